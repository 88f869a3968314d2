"use strict";
// The page of `corate inspect`. All text is in the data, with invisible characters made visible; it is only ever put into text
// nodes. Strings of strangers are array elements, never names of properties.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const NONE = "";
  const FEATURES_AT_ONCE = 20;
  const SENTENCES_AT_ONCE = 25;

  // An element with a class and children: other elements, or text.
  function element(name, look, ...children) {
    const made = document.createElement(name);
    if (look) made.className = look;
    made.append(...children);
    return made;
  }
  // A label in the colour of its type.
  const tag = (labels, hues, y, look) => isolated(labels[y], `${look} ${hues[y] < 0 ? "hue-none" : `hue-${hues[y]}`}`);
  const isolated = (text, look) => element("bdi", look, text);
  const number = (value) => value.toLocaleString("en");
  const counted = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
  const signed = (value, digits) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(digits);

  function bar(value, most) {
    const made = element("span", value > 0 ? "bar for" : "bar");
    made.style.setProperty("--share", String(most > 0 ? Math.abs(value) / most : 0));
    return made;
  }

  // A list that is shown in parts: `show` makes an element of an item, and the button adds the next part.
  function inParts(target, button, atOnce, what, show) {
    let items = [];
    let shown = 0;
    function more() {
      const added = items.slice(shown, shown + atOnce).map(show);
      target.append(...added);
      shown += added.length;
      const left = items.length - shown;
      button.hidden = left === 0;
      button.textContent = `Show ${number(Math.min(left, atOnce))} more of ${counted(left, what)}`;
      return added;
    }
    button.addEventListener("click", () => {
      const first = more()[0];
      const focus = first && (first.querySelector("button, [tabindex]") || first);
      if (focus) focus.focus();
    });
    return (found) => {
      items = found;
      shown = 0;
      target.replaceChildren();
      more();
    };
  }

  function onInput(controls, update) {
    let waiting = 0;
    for (const control of controls) {
      control.addEventListener("input", () => {
        cancelAnimationFrame(waiting);
        waiting = requestAnimationFrame(update);
      });
    }
    const form = controls[0].form;
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  function options(select, names) {
    names.forEach((name, value) => select.append(new Option(name, String(value))));
  }

  // -- features --------------------------------------------------------------------------------------------------

  function showFeatures() {
    const { labels, hues, name, label, weight, most } = data.features;
    const lower = name.map((text) => text.toLowerCase());
    const largest = weight.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const search = $("feature-search");
    const chosen = $("feature-label");
    const sign = $("feature-sign");
    chosen.append(new Option("all", NONE));
    options(chosen, labels);
    const list = inParts($("feature-rows"), $("feature-more"), FEATURES_AT_ONCE, "feature", (i) => {
      const heading = element("td", "", element("code", "", isolated(name[i])));
      const value = element("td", "number", signed(weight[i], 3));
      const whose = element("td", "", tag(labels, hues, label[i], "label"));
      return element("tr", "", heading, whose, value, element("td", "size", bar(weight[i], largest)));
    });
    function update() {
      const wanted = search.value.toLowerCase();
      const only = chosen.value === NONE ? -1 : Number(chosen.value);
      const side = Number(sign.value);
      const found = [];
      for (let i = 0; i < name.length; ++i) {
        if ((only < 0 || label[i] === only) && (side === 0 || side * weight[i] > 0) && lower[i].includes(wanted)) found.push(i);
      }
      list(found);
      const up = `the ${number(most)} largest for and against each label are in this page`;
      $("feature-status").textContent = name.length ? `${number(found.length)} of ${counted(name.length, "feature")}; ${up}.` : "The model has no weights of features.";
    }
    onInput([search, chosen, sign], update);
    update();
  }

  // -- sentences -------------------------------------------------------------------------------------------------

  function showSentences(text) {
    const { labels, hues, words, number: numbers, start, confidence, word, gold, predicted, probability } = text;
    const why = new Map(text.explanations.token.map((token, i) => [token, i]));
    const lowerWords = words.map((one) => one.toLowerCase());
    const count = numbers.length;
    const errors = new Int32Array(count);
    if (gold) {
      for (let s = 0; s < count; ++s) {
        for (let t = start[s]; t < start[s + 1]; ++t) errors[s] += gold[t] !== predicted[t] ? 1 : 0;
      }
    }
    const search = $("sentence-search");
    const order = $("sentence-order");
    const kind = $("sentence-kind");
    const clear = $("cell-clear");
    let cell = null;

    const tagOf = (y, look) => tag(labels, hues, y, look);
    const percent = (value) => `${(100 * value).toFixed(1)}%`;

    const isChosen = (t) => cell !== null && gold[t] === cell.gold && predicted[t] === cell.predicted;

    function token(t) {
      const wrong = gold !== null && gold[t] !== predicted[t];
      const explained = why.has(t);
      const made = element(explained ? "button" : "span", wrong ? "token wrong" : "token", isolated(words[word[t]], "word"));
      made.classList.toggle("chosen", isChosen(t));
      const plain = !wrong && hues[predicted[t]] < 0;
      if (!plain) made.append(tagOf(predicted[t], "tag"));
      if (wrong) made.append(element("span", "gold", element("span", "muted", "gold "), tagOf(gold[t], "tag")));
      const right = gold === null ? "" : wrong ? `, wrong, gold ${labels[gold[t]]}` : ", right";
      made.title = `${labels[predicted[t]]}, probability ${percent(probability[t])}${right}`;
      if (explained) {
        made.type = "button";
        made.setAttribute("aria-expanded", "false");
        made.dataset.token = String(t);
        made.tabIndex = -1;
      }
      return made;
    }

    function explanation(t) {
      const i = why.get(t);
      const { against, difference, count: terms, terms: all, names } = text.explanations;
      const heading = element("p", "", isolated(words[word[t]], "word"), ": ", tagOf(predicted[t], "label"));
      const made = element("div", "why", heading);
      if (against[i] < 0) {
        heading.append(". The model knows no other label for this word.");
        return made;
      }
      heading.append(" and not ", tagOf(against[i], "label"), `, difference of scores ${signed(difference[i], 2)}`);
      const flat = all[i];
      const rows = [];
      let rest = difference[i];
      for (let k = 0; k < flat.length; k += 2) {
        rows.push([isolated(names[flat[k]]), flat[k + 1]]);
        rest -= flat[k + 1];
      }
      if (terms[i] > rows.length) rows.push([counted(terms[i] - rows.length, "smaller contribution"), rest]);
      const most = rows.reduce((a, row) => Math.max(a, Math.abs(row[1])), 0);
      const header = element("tr", "", element("th", "number", "score"), element("th", "", element("span", "hidden", "size")), element("th", "", "contribution"));
      const body = element("tbody", "", ...rows.map(([name, score]) => element("tr", "", element("td", "number", signed(score, 2)), element("td", "", bar(score, most)), element("td", "", name))));
      for (const one of header.children) one.scope = "col";
      made.append(element("table", "", element("thead", "", header), body));
      return made;
    }

    function sentence(s) {
      const head = element("div", "sentence-head", element("span", "", `sentence ${number(numbers[s])}`), element("span", "", `doubt ${percent(1 - confidence[s])}`));
      if (gold) head.append(errors[s] ? element("span", "wrong", `${errors[s]} wrong`) : element("span", "", "no error"));
      const row = element("div", "tokens");
      for (let t = start[s]; t < start[s + 1]; ++t) row.append(token(t));
      const first = row.querySelector("button");
      if (first) {
        row.setAttribute("role", "group");
        row.setAttribute("aria-label", `Tokens of sentence ${numbers[s]}`);
        (row.querySelector("button.chosen") || row.querySelector("button.wrong") || first).tabIndex = 0;
      }
      return element("li", "", head, row);
    }

    // Opens or closes the explanation of a token, below its sentence.
    function toggle(button) {
      const item = button.closest("li");
      const open = button.getAttribute("aria-expanded") === "true";
      for (const other of item.querySelectorAll("[aria-expanded=true]")) other.setAttribute("aria-expanded", "false");
      for (const old of item.querySelectorAll(".why")) old.remove();
      if (open) return;
      button.setAttribute("aria-expanded", "true");
      item.append(explanation(Number(button.dataset.token)));
    }

    const target = $("sentence-list");
    target.addEventListener("click", (event) => {
      const button = event.target.closest("button.token");
      if (button) toggle(button);
    });
    target.addEventListener("focusin", (event) => {
      if (!event.target.matches("button.token")) return;
      for (const other of event.target.parentNode.querySelectorAll("button.token")) other.tabIndex = -1;
      event.target.tabIndex = 0;
    });
    target.addEventListener("keydown", (event) => {
      const button = event.target.closest("button.token");
      const all = button ? [...button.parentNode.querySelectorAll("button.token")] : [];
      const steps = new Map([["ArrowRight", 1], ["ArrowLeft", -1], ["Home", -all.length], ["End", all.length]]);
      if (!button || !steps.has(event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const next = all.indexOf(button) + steps.get(event.key);
      all[Math.max(0, Math.min(all.length - 1, next))].focus();
    });

    const list = inParts(target, $("sentence-more"), SENTENCES_AT_ONCE, "sentence", sentence);

    function inCell(s) {
      for (let t = start[s]; t < start[s + 1]; ++t) if (isChosen(t)) return true;
      return false;
    }
    function update() {
      const wanted = search.value.toLowerCase();
      const matching = lowerWords.map((one) => one.includes(wanted));
      const which = kind ? kind.value : "all";
      const found = [];
      for (let s = 0; s < count; ++s) {
        if (which !== "all" && (which === "wrong") !== errors[s] > 0) continue;
        if (cell && !inCell(s)) continue;
        if (wanted && !word.slice(start[s], start[s + 1]).some((w) => matching[w])) continue;
        found.push(s);
      }
      if (order.value === "text") found.sort((a, b) => numbers[a] - numbers[b]);
      if (order.value === "errors") found.sort((a, b) => errors[b] - errors[a] || a - b);
      list(found);
      const status = $("sentence-status");
      status.replaceChildren(`${number(found.length)} of ${counted(count, "sentence")}`);
      if (cell) status.append(", with tokens of gold label ", tagOf(cell.gold, "label"), " and predicted label ", tagOf(cell.predicted, "label"));
      status.append(".");
    }

    const buttons = [...document.querySelectorAll("button[data-gold]")];
    function choose(wanted) {
      cell = wanted;
      for (const button of buttons) {
        const pressed = cell !== null && Number(button.dataset.gold) === cell.gold && Number(button.dataset.predicted) === cell.predicted;
        button.setAttribute("aria-pressed", String(pressed));
      }
      clear.hidden = cell === null;
      clear.textContent = "All labels";
      if (kind && cell) kind.value = "all";
      update();
    }
    for (const button of buttons) {
      button.addEventListener("click", () => {
        choose({ gold: Number(button.dataset.gold), predicted: Number(button.dataset.predicted) });
        $("sentences").scrollIntoView();
        $("sentences").focus({ preventScroll: true });
      });
    }
    clear.addEventListener("click", () => {
      choose(null);
      order.focus();
    });
    onInput(kind ? [search, order, kind] : [search, order], update);
    choose(null);
  }

  showFeatures();
  if (data.text) showSentences(data.text);
  document.documentElement.dataset.ready = "true";
})();
