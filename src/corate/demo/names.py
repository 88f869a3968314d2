"""The words of the addresses, for eight countries. All people and most places are made up from these parts."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COMPANY_FORMS", "COUNTRIES", "NOTES", "TITLES", "TRADES", "Country"]


@dataclass(frozen=True)
class Country:
    """How one country writes addresses.

    In ``layouts`` an upper-case word is a part, a word in brackets is optional, and a comma is itself. In ``postcode``,
    ``house`` and ``units``, 9 means any digit, 8 a digit from 1 to 9 and A a letter; in ``streets``, the asterisk means
    the name of the street. Every tuple inside ``streets``, ``regions`` and ``called`` has the long form first, then the
    short forms.
    """

    called: tuple[str, ...]
    layouts: tuple[str, ...]
    given: str
    surnames: tuple[str, str]
    cities: str
    city_parts: tuple[str, str]
    street_names: str
    streets: tuple[tuple[str, ...], ...]
    house: tuple[str, ...]
    units: tuple[str, ...]
    postcode: tuple[str, ...]
    regions: tuple[tuple[str, ...], ...] = ()


TITLES = ("Mr", "Mrs", "Ms", "Dr", "Dr.", "Prof.", "Sr", "Frau", "Herr", "Mme", "M.", "Sig.", "Fam.", "c/o", "Attn:")
NOTES = (
    "tel. 999 9999",
    "phone 99999 999999",
    "ring twice",
    "leave with neighbour at 89",
    "gate code 8999",
    "please forward",
    "order 89999",
    "deliver after 8 pm",
    "2nd house on the left",
    "near the church",
    "behind Mill Lane school",
    "attn of reception",
    "old address",
    "urgent",
)
TRADES = (
    "Bakery Dental Motors Books Plumbing Optics Logistics Garden Florist Studio Pharmacy Travel Consulting Roofing "
    "Cycles Brewery Textiles Printing Cafe Electric Foods Marine Timber Records School Library Clinic Hotel"
)
COMPANY_FORMS = ("Ltd", "LLC", "Inc.", "GmbH", "& Sons", "B.V.", "S.p.A.", "SARL", "S.L.", "Ltda", "Group", "& Co")

_ENGLISH_GIVEN = (
    "Alice Ben Carol Daniel Ella Frank Grace Henry Ivy Jack Karen Liam Mary Noah Olive Peter Ruth Sam Tess Victor "
    "Wendy Austin Florence Chelsea Victoria Sydney Jordan Lincoln Madison Paris Dallas Brooklyn Charlotte Houston"
)
_ENGLISH_SURNAMES = (
    "Ash Black Brad Car Clay Cole Dray Elm Fair Gold Green Hart Hol Kirk Lang Marsh North Pem Rad Stan Thorn Wake Wood",
    "ford ley ton man son wood worth field well bury brook by croft dale shaw er s",
)
_US_CITIES = (
    "Springfield Austin Boston Chicago Dallas Denver Houston Lincoln Madison Memphis Phoenix Portland Salem Seattle "
    "Jackson Lafayette Aurora Florence Troy Paris Athens Cleveland Oakland Newark Orlando Franklin Clinton"
)
_UK_CITIES = (
    "London Leeds Bristol York Oxford Bath Cardiff Durham Exeter Lincoln Derby Norwich Dover Chester Lancaster Perth "
    "Reading Sandwich Battle Wells Ely Deal Hove Stoke"
)

COUNTRIES = (
    Country(
        called=("United States", "USA", "U.S.A.", "US"),
        layouts=(
            "NAME , HOUSE STREET [UNIT] , CITY , REGION POSTCODE [COUNTRY]",
            "NAME , HOUSE STREET , [UNIT] , CITY REGION POSTCODE",
            "HOUSE STREET [UNIT] , CITY , REGION [POSTCODE]",
        ),
        given=_ENGLISH_GIVEN,
        surnames=_ENGLISH_SURNAMES,
        cities=_US_CITIES,
        city_parts=(
            "Ash Bay Cedar Clear Eagle Fair George Glen Green Lake Mill Oak Pleasant River Rose Union West",
            "ville ton burg field wood view port dale land ford haven",
        ),
        street_names=(
            "Oak Maple Main Elm Park Washington Lincoln Jackson Madison Franklin Lake Hill Mill Church Cedar Walnut "
            "Sunset River Boston Denver Houston Georgia Virginia Texas Court Spring 1st 2nd 3rd 4th 5th 12th 42nd "
            "Martin Old_Mill King Highland St._Clair Los_Robles Broadway"
        ),
        streets=(
            ("* Street", "* St", "* St."),
            ("* Avenue", "* Ave", "* Ave.", "* Av"),
            ("* Road", "* Rd", "* Rd."),
            ("* Drive", "* Dr", "* Dr."),
            ("* Boulevard", "* Blvd", "* Blvd."),
            ("* Lane", "* Ln"),
            ("* Court", "* Ct"),
            ("North * Street", "N * St", "N. * St"),
            ("West * Avenue", "W * Ave", "W. * Ave"),
            ("Highway 89", "Hwy 89", "Route 89", "Rte 89"),
            ("*",),
        ),
        house=("8", "89", "899", "899", "8999", "8A", "P.O. Box 899"),
        units=("Apt 8", "Apt 8A", "Apt. 89", "Suite 899", "Ste 899", "# 8", "Unit A", "Floor 8", "Fl 8", "#89"),
        postcode=("99999", "99999", "99999", "99999-9999"),
        regions=(
            ("Illinois", "IL", "Ill."),
            ("Texas", "TX", "Tex."),
            ("Massachusetts", "MA", "Mass."),
            ("Oregon", "OR"),
            ("Washington", "WA"),
            ("Georgia", "GA"),
            ("Indiana", "IN"),
            ("Maine", "ME"),
            ("New York", "NY", "N.Y."),
            ("North Carolina", "NC"),
            ("Virginia", "VA"),
            ("California", "CA", "Calif."),
        ),
    ),
    Country(
        called=("United Kingdom", "UK", "Great Britain", "England", "Scotland"),
        layouts=(
            "NAME , [UNIT] , HOUSE STREET , CITY , [REGION] , POSTCODE [COUNTRY]",
            "NAME , HOUSE STREET , CITY POSTCODE",
            "[UNIT] HOUSE STREET , CITY , [REGION] POSTCODE , [COUNTRY]",
        ),
        given=_ENGLISH_GIVEN,
        surnames=_ENGLISH_SURNAMES,
        cities=_UK_CITIES,
        city_parts=(
            "Ash Brad Cam Chip East Great_Marl Hunt King's Little_Stan Mar New Nor Thorn Up Wal West",
            "ford ham bury ton ley minster mouth wick stead port well",
        ),
        street_names=(
            "High Church Station Victoria Albert King Queen Mill London York Oxford Chester School Bridge Market Abbey "
            "Castle Windsor Grange Manor Park St._Mary's Baker Wellington Nelson Orchard The"
        ),
        streets=(
            ("* Street", "* St", "* St."),
            ("* Road", "* Rd", "* Rd."),
            ("* Lane", "* Ln"),
            ("* Gardens", "* Gdns"),
            ("* Close", "* Cl"),
            ("* Terrace", "* Terr"),
            ("* Crescent", "* Cres"),
            ("* Row",),
            ("* Hill",),
            ("* Green",),
        ),
        house=("8", "89", "89", "899", "8A", "8-9", "Rose Cottage", "The Old Mill", "Ivy House", "Oak Lodge"),
        units=("Flat 8", "Flat A", "Unit 89", "Flat 8A", "2nd Floor", "Room 899"),
        postcode=("AA9 9AA", "AA99 9AA", "A9 9AA", "AA9A 9AA"),
        regions=(
            ("Kent",),
            ("Surrey",),
            ("Yorkshire", "Yorks", "Yorks."),
            ("Oxfordshire", "Oxon"),
            ("Lancashire", "Lancs"),
            ("West Sussex", "W Sussex"),
            ("Norfolk",),
        ),
    ),
    Country(
        called=("Germany", "Deutschland", "DE"),
        layouts=("NAME , STREET HOUSE [UNIT] , POSTCODE CITY [COUNTRY]", "STREET HOUSE , POSTCODE CITY , [COUNTRY]"),
        given=(
            "Anna Bernd Clara Dieter Emma Fritz Greta Hans Ingrid Jonas Karl Lena Max Nina Otto Paula Rolf Sofie Uwe "
            "Florian Roman Martin Ulm"
        ),
        surnames=(
            "Acker Berg Breit Eich Feld Hof Kauf Klein Lang Neu Ober Roth Schwarz Stein Tann Weiss Wald",
            "mann er bach berg feld hardt meier stein wald",
        ),
        cities=(
            "Berlin Hamburg Köln Bremen Ulm Essen Bonn Dresden Leipzig Mainz Trier Kassel Jena Halle Aachen "
            "Frankfurt_am_Main Rothenburg_ob_der_Tauber"
        ),
        city_parts=(
            "Alten Birken Eichen Fried Grün Hohen Kirch Lichten Neu Ober Rosen Schön Stein Unter Wald",
            "burg bach dorf feld hausen heim stadt berg au kirchen",
        ),
        street_names=(
            "Haupt Bahnhof Garten Schul Berg Linden Goethe Schiller Mozart Kirch Wald Ring Post Mühlen Rosen Bismarck "
            "Kant Feld Bach Burg"
        ),
        streets=(
            ("*straße", "*strasse", "*str.", "*str"),
            ("*weg",),
            ("*platz", "*pl."),
            ("*allee",),
            ("*gasse",),
            ("Am *berg",),
            ("Berliner Straße", "Berliner Str."),
            ("Frankfurter Allee",),
            ("Unter den Linden",),
            ("Alte *straße", "Alte *str."),
        ),
        house=("8", "89", "89", "899", "8a", "8 b", "8-9"),
        units=("2. OG", "EG links", "Hinterhaus", "Whg. 8"),
        postcode=("99999", "99999", "99999", "D-99999"),
    ),
    Country(
        called=("France", "FR", "FRANCE"),
        layouts=(
            "NAME , [UNIT] , HOUSE STREET , POSTCODE CITY [COUNTRY]",
            "NAME , HOUSE , STREET , POSTCODE CITY",
            "HOUSE STREET , [UNIT] , POSTCODE CITY , [COUNTRY]",
        ),
        given=(
            "Amélie Bernard Chloé Denis Élise François Gilles Hélène Inès Jean Karine Louis Manon Nicolas Odile Pierre "
            "Jean-Luc Marie-Claire Florence Paris"
        ),
        surnames=(
            "Beau Bois Chante Clair Du De Font La Le Mont Rose Vil Val Gran",
            "champ clerc court fort main mont pont rand rier ville vin vert bert",
        ),
        cities=(
            "Paris Lyon Nantes Lille Nice Tours Dijon Rennes Reims Metz Brest Orléans Le_Havre La_Rochelle "
            "Aix-en-Provence Saint-Denis Saint-Étienne Montpellier"
        ),
        city_parts=(
            "Beau Chante Font Gran Haute Mont Neuf Roche Saint-Au Vieux Ville Clair",
            "champ court fort mont val ville bourg lac pré neuve lieu",
        ),
        street_names=(
            "de_la_Paix Victor-Hugo de_Paris de_Lyon du_Moulin des_Lilas de_l'Église Pasteur Saint-Martin du_Marché "
            "de_la_Gare Voltaire des_Écoles du_8_Mai de_la_République d'Orléans Jean_Jaurès du_Château"
        ),
        streets=(
            ("rue *", "r. *", "Rue *", "R *"),
            ("avenue *", "av. *", "Av *", "Avenue *"),
            ("boulevard *", "bd *", "Bd. *", "Boulevard *"),
            ("place *", "pl. *", "Place *"),
            ("chemin *", "ch. *"),
            ("impasse *", "imp. *"),
            ("quai *",),
        ),
        house=("8", "89", "89", "8 bis", "8 ter", "8B", "8bis"),
        units=("Bât. A", "appt 89", "Apt. 8", "Esc. A", "3e étage", "BP 899"),
        postcode=("99999", "99999", "F-99999"),
    ),
    Country(
        called=("Netherlands", "Nederland", "The Netherlands", "NL"),
        layouts=("NAME , STREET HOUSE [UNIT] , POSTCODE CITY [COUNTRY]", "STREET HOUSE , POSTCODE CITY , [COUNTRY]"),
        given=(
            "Anouk Bram Cas Daan Eva Femke Gijs Hugo Ilse Joris Koen Lotte Maud Niels Pieter Roos Sanne Teun Delft Sven"
        ),
        surnames=(
            "van_den_Berg van_der_Brug de_Vries Bakker Blom Dijk Jans Kuiper Molen Ooster Veen Visser",
            "stra ma sen man aar mans",
        ),
        cities="Amsterdam Utrecht Delft Leiden Breda Zwolle Arnhem Gouda Den_Haag Eindhoven Hoorn Assen Groningen",
        city_parts=(
            "Amstel Bergen Broek Heren Hilver Koog Loos Nieuw Ooster Rijs Wester Zand",
            "dam veen drecht hoven wijk dijk kerk burg sum beek",
        ),
        street_names=(
            "Dorps Kerk Molen School Heren Keizers Linden Beuken Stations Wilhelmina Juliana Park Haven Rembrandt Delft"
        ),
        streets=(
            ("*straat", "*str.", "*str"),
            ("*laan", "*ln"),
            ("*weg",),
            ("*gracht", "*gr."),
            ("*plein", "*pln"),
            ("*kade",),
            ("Laan van *", "Ln v *"),
        ),
        house=("8", "89", "899", "8a", "8-9", "8 bis"),
        units=("II", "hs", "3 hoog", "app. 8", "bus 8"),
        postcode=("9999 AA", "9999 AA", "9999AA"),
    ),
    Country(
        called=("Italy", "Italia", "IT"),
        layouts=(
            "NAME , STREET , HOUSE [UNIT] , POSTCODE CITY [REGION] , [COUNTRY]",
            "NAME , STREET HOUSE , POSTCODE CITY REGION",
            "STREET HOUSE , POSTCODE CITY [COUNTRY]",
        ),
        given="Alba Bruno Carla Dario Elena Fabio Gaia Ivo Luca Marta Nico Olga Paolo Rita Silvia Tito Ugo Roma Siena",
        surnames=("Bell Bian Cas Con Ferr Gall Mar Mon Ric Ross Ser Val Vit", "i ini etti oni ari elli ese ucci aro"),
        cities="Roma Milano Torino Napoli Siena Pisa Parma Verona Genova Lucca Bari La_Spezia Ascoli_Piceno Firenze",
        city_parts=(
            "Acqua Borgo Castel Fonte Monte Ponte Roc Torre Villa",
            "chiara forte nero rosso vecchio franco nova",
        ),
        street_names=(
            "Roma Milano Garibaldi Mazzini Dante Verdi Cavour Marconi San_Marco delle_Rose del_Corso XX_Settembre "
            "Vittorio_Emanuele_II IV_Novembre Napoli della_Libertà"
        ),
        streets=(
            ("Via *", "V. *", "via *"),
            ("Piazza *", "P.za *", "Pza *", "p.zza *"),
            ("Corso *", "C.so *"),
            ("Viale *", "V.le *", "Vle *"),
            ("Largo *",),
            ("Vicolo *", "Vic. *"),
        ),
        house=("8", "89", "89", "899", "8/A", "8/bis", "n. 8"),
        units=("int. 8", "interno 8", "scala A", "piano 2"),
        postcode=("99999", "99999", "I-99999"),
        regions=(("RM",), ("MI",), ("TO",), ("(NA)",), ("(SI)",), ("PI",), ("Toscana",), ("Lazio",)),
    ),
    Country(
        called=("Spain", "España", "ES"),
        layouts=(
            "NAME , STREET HOUSE , [UNIT] , POSTCODE CITY [COUNTRY]",
            "NAME , STREET , HOUSE , [UNIT] , POSTCODE CITY , [REGION] , [COUNTRY]",
            "STREET HOUSE [UNIT] , POSTCODE CITY",
        ),
        given=(
            "Alba Bea Carmen Diego Elena Félix Gloria Hugo Inés Jorge Lola Marcos Nuria Óscar Pilar Rosa Sergio Teo "
            "María José Santiago León Valencia"
        ),
        surnames=(
            "Álvar Benít Cast Domíngu Fernánd Gonzál Igles Mor Nav Ort Ramír Rod Sánch Vald",
            "ez illo ales ero eno as ano ín",
        ),
        cities="Madrid Sevilla Valencia Toledo León Burgos Bilbao Granada Cádiz Soria Palma_de_Mallorca Santiago Vigo",
        city_parts=(
            "Agua Alma Bena Casa Fuente Monte Piedra Torre Valde Villa",
            "blanca clara dulce franca nueva rubia vera",
        ),
        street_names=(
            "Mayor Real del_Sol de_Toledo de_Alcalá Cervantes de_la_Paz San_Juan de_la_Constitución Goya de_Madrid "
            "de_las_Flores de_Burgos Nueva del_Carmen"
        ),
        streets=(
            ("Calle *", "C/ *", "c. *", "Cl *"),
            ("Avenida *", "Avda. *", "Av. *", "Avda *"),
            ("Plaza *", "Pl. *", "Pza. *"),
            ("Paseo *", "Pº *", "P.º *"),
            ("Camino *", "Cno. *"),
        ),
        house=("8", "89", "89", "899", "nº 8", "s/n", "8 bis"),
        units=("3º B", "2º izq.", "1º dcha.", "bajo A", "Piso 8", "4º"),
        postcode=("99999",),
        regions=(("Madrid",), ("Andalucía",), ("Toledo",), ("Castilla y León",), ("Galicia",)),
    ),
    Country(
        called=("Brazil", "Brasil", "BR"),
        layouts=(
            "NAME , STREET , HOUSE , [UNIT] , CITY - REGION , POSTCODE , [COUNTRY]",
            "NAME , STREET HOUSE [UNIT] , POSTCODE CITY - REGION",
            "STREET , HOUSE [UNIT] , CITY REGION POSTCODE",
        ),
        given=(
            "Ana Beto Caio Davi Elisa Fábio Gabi Heitor Iara João Lívia Márcio Nara Otávio Paulo Raquel Téo Vitória "
            "Salvador Santos"
        ),
        surnames=(
            "da_Sil do_Prad Alm Bar Car Ferr Gom Lim Mach Nog Oliv Per Rib Sant Tav",
            "a eida ado eira es os ares eiro",
        ),
        cities=(
            "São_Paulo Rio_de_Janeiro Salvador Recife Santos Curitiba Belém Natal Olinda Campinas Niterói Vitória "
            "Belo_Horizonte"
        ),
        city_parts=(
            "Água Alto Boa Campo Lagoa Monte Ouro Pedra Porto Santa Serra",
            "_Branca _Alegre _Verde _Nova _Negra _Grande",
        ),
        street_names=(
            "das_Flores XV_de_Novembro Sete_de_Setembro São_João da_Bahia Paulista do_Comércio Santos Brasil "
            "dos_Andradas Santa_Rita do_Sol Tiradentes da_Paz"
        ),
        streets=(
            ("Rua *", "R. *", "R *"),
            ("Avenida *", "Av. *", "Av *"),
            ("Travessa *", "Tv. *", "Trav. *"),
            ("Praça *", "Pça. *", "Pç *"),
            ("Alameda *", "Al. *"),
            ("Rodovia BR-899", "Rod. BR-899"),
        ),
        house=("8", "89", "899", "8999", "s/n", "nº 899", "km 89"),
        units=("Apto 89", "apto. 899", "ap 8", "Bloco A", "Sala 899", "casa 8", "fundos"),
        postcode=("99999-999", "99999-999", "99999999", "CEP 99999-999"),
        regions=(("SP", "São Paulo"), ("RJ", "Rio de Janeiro"), ("BA", "Bahia"), ("PR",), ("MG",), ("PE",), ("RS",)),
    ),
)
