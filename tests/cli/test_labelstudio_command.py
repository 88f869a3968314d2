"""Tasks of Label Studio on the command line: trained on, measured, tagged and chosen."""

import json

from corate.demo import addresses


def tasks(n, seed):
    made = []
    for number, line in enumerate(addresses(n, seed), 1):
        text, results = "", []
        for word, label in line:
            if label.startswith("B-"):
                value = {"start": len(text), "end": len(text) + len(word), "labels": [label[2:]]}
                results.append({"from_name": "ner", "to_name": "doc", "type": "labels", "value": value})
            elif label.startswith("I-"):
                results[-1]["value"]["end"] = len(text) + len(word)
            text += f"{word} "
        for result in results:
            result["value"]["text"] = text[result["value"]["start"] : result["value"]["end"]]
        made.append({"id": number, "data": {"text": text}, "annotations": [{"result": results}]})
    return json.dumps(made)


def test_from_an_export_to_predictions(corate, tmp_path):
    train, test, model = (tmp_path / name for name in ("train.json", "test.json", "m.corate"))
    train.write_text(tasks(150, 1), "utf-8")
    test.write_text(tasks(20, 2), "utf-8")
    options = ("--widen-spans", "--skip-bad", "--quiet")  # where the tokeniser splits otherwise
    assert corate("train", train, "-o", model, "--method", "empirical", *options).code == 0
    report = json.loads(corate("eval", model, test, "--json", *options[:2]).text)
    assert report["accuracy"] > 0.8

    found = json.loads(corate("tag", model, test).text)
    assert [own["id"] for own in found] == list(range(1, 21))
    for own in found:
        for item in own["predictions"][0]["result"]:
            value = item["value"]
            assert own["data"]["text"][value["start"] : value["end"]] == value["text"]
            assert (item["from_name"], item["to_name"]) == ("ner", "doc")
            assert own["predictions"][0]["score"] <= item["score"] <= 1
    sure = json.loads(corate("tag", model, test, "--only-sure", "0.9").text)
    kept = [item["score"] for own in sure for item in own["predictions"][0]["result"]]
    every = [item["score"] for own in found for item in own["predictions"][0]["result"]]
    assert kept == [score for score in every if score >= 0.9]

    raw = json.loads(corate("tag", model, "--format", "raw", "--to", "labelstudio", stdin=b"12 Oak St, Boston\n").text)
    assert raw[0]["data"] == {"text": "12 Oak St, Boston"}
    chosen = json.loads(corate("active", model, test, "-n", "3", "-o", "-").text)
    assert len(chosen) == 3
    assert all(own.keys() == {"id", "data"} for own in chosen)


def test_a_cut_token_is_one_line_with_the_options(corate, tmp_path):
    value = {"start": 0, "end": 2, "text": "An", "labels": ["PER"]}
    bad = [{"id": 5, "data": {"text": "Ann sings"}, "annotations": [{"result": [{"type": "labels", "value": value}]}]}]
    (tmp_path / "bad.json").write_text(json.dumps(bad), "utf-8")
    result = corate("train", tmp_path / "bad.json", "-o", tmp_path / "m.corate")
    assert result.code == 1
    assert "bad.json, task 5: the span 'An' (0 to 2, PER) cuts the token 'Ann'" in result.err
    assert "with --widen-spans, or leave them out with --skip-bad" in result.err
