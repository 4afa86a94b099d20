"""Hierarchies of published lists: diagnoses by block and chapter, countries by region.

The ranges of ICD-10 are the World Health Organization's, version of 2019 [WHO10], and not those of
the clinical modification of the United States (neoplasms are C00-D48, not C00-D49); regions and
sub-regions are the United Nations' M49 [M49], by ISO 3166 codes and English names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from reidbn.calls import typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.ladders import Ladder
from reidbn.microdata.table import People
from reidbn.written import counted

ICD = re.compile(
    r"([A-TV-Z]\d[0-9A-B])(?:\.?[0-9A-Z]{1,4}|\.-)?|(U\d\d)(?:\.?\d|\.-)?", re.IGNORECASE
)
# Chapters I to XXII, ends included.
CHAPTERS = (
    ("A00", "B99"), ("C00", "D48"), ("D50", "D89"), ("E00", "E90"), ("F00", "F99"), ("G00", "G99"),
    ("H00", "H59"), ("H60", "H95"), ("I00", "I99"), ("J00", "J99"), ("K00", "K93"), ("L00", "L99"),
    ("M00", "M99"), ("N00", "N99"), ("O00", "O99"), ("P00", "P96"), ("Q00", "Q99"), ("R00", "R99"),
    ("S00", "T98"), ("V01", "Y98"), ("Z00", "Z99"), ("U00", "U85"),
)  # fmt: skip
# What national modifications add to a chapter beyond the World Health Organization's ends.
ADDED = {
    ("D49", "D49"): "C00-D48", ("K94", "K95"): "K00-K93", ("O9A", "O9A"): "O00-O99",
    ("V00", "V00"): "V01-Y98", ("Y99", "Y99"): "V01-Y98", ("U86", "U99"): "U00-U85",
}  # fmt: skip
BLOCKS = """
A00-A09 A15-A19 A20-A28 A30-A49 A50-A64 A65-A69 A70-A74 A75-A79 A80-A89 A92-A99 B00-B09 B15-B19
B20-B24 B25-B34 B35-B49 B50-B64 B65-B83 B85-B89 B90-B94 B95-B98 B99-B99 C00-C14 C00-C75 C00-C97
C15-C26 C30-C39 C40-C41 C43-C44 C45-C49 C50-C50 C51-C58 C60-C63 C64-C68 C69-C72 C73-C75 C76-C80
C81-C96 C97-C97 D00-D09 D10-D36 D37-D48 D50-D53 D55-D59 D60-D64 D65-D69 D70-D77 D80-D89 E00-E07
E10-E14 E15-E16 E20-E35 E40-E46 E50-E64 E65-E68 E70-E90 F00-F09 F10-F19 F20-F29 F30-F39 F40-F48
F50-F59 F60-F69 F70-F79 F80-F89 F90-F98 F99-F99 G00-G09 G10-G14 G20-G26 G30-G32 G35-G37 G40-G47
G50-G59 G60-G64 G70-G73 G80-G83 G90-G99 H00-H06 H10-H13 H15-H22 H25-H28 H30-H36 H40-H42 H43-H45
H46-H48 H49-H52 H53-H54 H55-H59 H60-H62 H65-H75 H80-H83 H90-H95 I00-I02 I05-I09 I10-I15 I20-I25
I26-I28 I30-I52 I60-I69 I70-I79 I80-I89 I95-I99 J00-J06 J09-J18 J20-J22 J30-J39 J40-J47 J60-J70
J80-J84 J85-J86 J90-J94 J95-J99 K00-K14 K20-K31 K35-K38 K40-K46 K50-K52 K55-K64 K65-K67 K70-K77
K80-K87 K90-K93 L00-L08 L10-L14 L20-L30 L40-L45 L50-L54 L55-L59 L60-L75 L80-L99 M00-M03 M00-M25
M05-M14 M15-M19 M20-M25 M30-M36 M40-M43 M40-M54 M45-M49 M50-M54 M60-M63 M60-M79 M65-M68 M70-M79
M80-M85 M80-M94 M86-M90 M91-M94 M95-M99 N00-N08 N10-N16 N17-N19 N20-N23 N25-N29 N30-N39 N40-N51
N60-N64 N70-N77 N80-N98 N99-N99 O00-O08 O10-O16 O20-O29 O30-O48 O60-O75 O80-O84 O85-O92 O94-O99
P00-P04 P05-P08 P10-P15 P20-P29 P35-P39 P50-P61 P70-P74 P75-P78 P80-P83 P90-P96 Q00-Q07 Q10-Q18
Q20-Q28 Q30-Q34 Q35-Q37 Q38-Q45 Q50-Q56 Q60-Q64 Q65-Q79 Q80-Q89 Q90-Q99 R00-R09 R10-R19 R20-R23
R25-R29 R30-R39 R40-R46 R47-R49 R50-R69 R70-R79 R80-R82 R83-R89 R90-R94 R95-R99 S00-S09 S10-S19
S20-S29 S30-S39 S40-S49 S50-S59 S60-S69 S70-S79 S80-S89 S90-S99 T00-T07 T08-T14 T15-T19 T20-T25
T20-T32 T26-T28 T29-T32 T33-T35 T36-T50 T51-T65 T66-T78 T79-T79 T80-T88 T90-T98 U00-U49 U82-U85
V01-V09 V01-V99 V01-X59 V10-V19 V20-V29 V30-V39 V40-V49 V50-V59 V60-V69 V70-V79 V80-V89 V90-V94
V95-V97 V98-V99 W00-W19 W00-X59 W20-W49 W50-W64 W65-W74 W75-W84 W85-W99 X00-X09 X10-X19 X20-X29
X30-X39 X40-X49 X50-X57 X58-X59 X60-X84 X85-Y09 Y10-Y34 Y35-Y36 Y40-Y59 Y40-Y84 Y60-Y69 Y70-Y82
Y83-Y84 Y85-Y89 Y90-Y98 Z00-Z13 Z20-Z29 Z30-Z39 Z40-Z54 Z55-Z65 Z70-Z76 Z80-Z99
"""
REGIONS = """
Africa / Northern Africa: DZ|DZA|Algeria; EG|EGY|Egypt; LY|LBY|Libya; MA|MAR|Morocco;
    SD|SDN|Sudan; TN|TUN|Tunisia; EH|ESH|Western Sahara
Africa / Eastern Africa: IO|IOT|British Indian Ocean Territory; BI|BDI|Burundi; KM|COM|Comoros;
    DJ|DJI|Djibouti; ER|ERI|Eritrea; ET|ETH|Ethiopia; TF|ATF|French Southern Territories;
    KE|KEN|Kenya; MG|MDG|Madagascar; MW|MWI|Malawi; MU|MUS|Mauritius; YT|MYT|Mayotte;
    MZ|MOZ|Mozambique; RE|REU|Réunion|Reunion; RW|RWA|Rwanda; SC|SYC|Seychelles; SO|SOM|Somalia;
    SS|SSD|South Sudan; UG|UGA|Uganda; TZ|TZA|Tanzania; ZM|ZMB|Zambia; ZW|ZWE|Zimbabwe
Africa / Middle Africa: AO|AGO|Angola; CM|CMR|Cameroon; CF|CAF|Central African Republic;
    TD|TCD|Chad; CG|COG|Congo|Republic of the Congo; CD|COD|Democratic Republic of the Congo|DR
    Congo; GQ|GNQ|Equatorial Guinea; GA|GAB|Gabon; ST|STP|Sao Tome and Principe
Africa / Southern Africa: BW|BWA|Botswana; SZ|SWZ|Eswatini|Swaziland; LS|LSO|Lesotho;
    NA|NAM|Namibia; ZA|ZAF|South Africa
Africa / Western Africa: BJ|BEN|Benin; BF|BFA|Burkina Faso; CV|CPV|Cape Verde|Cabo Verde;
    CI|CIV|Ivory Coast|Côte d'Ivoire; GM|GMB|Gambia|The Gambia; GH|GHA|Ghana; GN|GIN|Guinea;
    GW|GNB|Guinea-Bissau; LR|LBR|Liberia; ML|MLI|Mali; MR|MRT|Mauritania; NE|NER|Niger;
    NG|NGA|Nigeria; SH|SHN|Saint Helena; SN|SEN|Senegal; SL|SLE|Sierra Leone; TG|TGO|Togo
Americas / Caribbean: AI|AIA|Anguilla; AG|ATG|Antigua and Barbuda; AW|ABW|Aruba;
    BS|BHS|Bahamas|The Bahamas; BB|BRB|Barbados; BQ|BES|Bonaire, Sint Eustatius and Saba;
    VG|VGB|British Virgin Islands; KY|CYM|Cayman Islands; CU|CUB|Cuba; CW|CUW|Curaçao|Curacao;
    DM|DMA|Dominica; DO|DOM|Dominican Republic; GD|GRD|Grenada; GP|GLP|Guadeloupe; HT|HTI|Haiti;
    JM|JAM|Jamaica; MQ|MTQ|Martinique; MS|MSR|Montserrat; PR|PRI|Puerto Rico; BL|BLM|Saint
    Barthélemy; KN|KNA|Saint Kitts and Nevis; LC|LCA|Saint Lucia; MF|MAF|Saint Martin;
    VC|VCT|Saint Vincent and the Grenadines; SX|SXM|Sint Maarten; TT|TTO|Trinidad and Tobago;
    TC|TCA|Turks and Caicos Islands; VI|VIR|U.S. Virgin Islands
Americas / Central America: BZ|BLZ|Belize; CR|CRI|Costa Rica; SV|SLV|El Salvador;
    GT|GTM|Guatemala; HN|HND|Honduras; MX|MEX|Mexico; NI|NIC|Nicaragua; PA|PAN|Panama
Americas / South America: AR|ARG|Argentina; BO|BOL|Bolivia; BV|BVT|Bouvet Island; BR|BRA|Brazil;
    CL|CHL|Chile; CO|COL|Colombia; EC|ECU|Ecuador; FK|FLK|Falkland Islands; GF|GUF|French Guiana;
    GY|GUY|Guyana; PY|PRY|Paraguay; PE|PER|Peru; GS|SGS|South Georgia and the South Sandwich
    Islands; SR|SUR|Suriname; UY|URY|Uruguay; VE|VEN|Venezuela
Americas / Northern America: BM|BMU|Bermuda; CA|CAN|Canada; GL|GRL|Greenland; PM|SPM|Saint Pierre
    and Miquelon; US|USA|United States|United States of America
Asia / Central Asia: KZ|KAZ|Kazakhstan; KG|KGZ|Kyrgyzstan; TJ|TJK|Tajikistan; TM|TKM|Turkmenistan;
    UZ|UZB|Uzbekistan
Asia / Eastern Asia: CN|CHN|China; HK|HKG|Hong Kong; MO|MAC|Macao|Macau; KP|PRK|North Korea;
    JP|JPN|Japan; MN|MNG|Mongolia; KR|KOR|South Korea|Republic of Korea|Korea, Republic of
Asia / South-eastern Asia: BN|BRN|Brunei; KH|KHM|Cambodia; ID|IDN|Indonesia; LA|LAO|Laos;
    MY|MYS|Malaysia; MM|MMR|Myanmar|Burma; PH|PHL|Philippines; SG|SGP|Singapore; TH|THA|Thailand;
    TL|TLS|Timor-Leste|East Timor; VN|VNM|Vietnam|Viet Nam
Asia / Southern Asia: AF|AFG|Afghanistan; BD|BGD|Bangladesh; BT|BTN|Bhutan; IN|IND|India;
    IR|IRN|Iran; MV|MDV|Maldives; NP|NPL|Nepal; PK|PAK|Pakistan; LK|LKA|Sri Lanka
Asia / Western Asia: AM|ARM|Armenia; AZ|AZE|Azerbaijan; BH|BHR|Bahrain; CY|CYP|Cyprus;
    GE|GEO|Georgia; IQ|IRQ|Iraq; IL|ISR|Israel; JO|JOR|Jordan; KW|KWT|Kuwait; LB|LBN|Lebanon;
    OM|OMN|Oman; QA|QAT|Qatar; SA|SAU|Saudi Arabia; PS|PSE|Palestine|State of Palestine;
    SY|SYR|Syria; TR|TUR|Turkey|Türkiye; AE|ARE|United Arab Emirates; YE|YEM|Yemen
Europe / Eastern Europe: BY|BLR|Belarus; BG|BGR|Bulgaria; CZ|CZE|Czechia|Czech Republic;
    HU|HUN|Hungary; PL|POL|Poland; MD|MDA|Moldova; RO|ROU|Romania; RU|RUS|Russia|Russian
    Federation; SK|SVK|Slovakia; UA|UKR|Ukraine
Europe / Northern Europe: AX|ALA|Åland Islands|Aland Islands; DK|DNK|Denmark; EE|EST|Estonia;
    FO|FRO|Faroe Islands; FI|FIN|Finland; GG|GGY|Guernsey; IS|ISL|Iceland; IE|IRL|Ireland;
    IM|IMN|Isle of Man; JE|JEY|Jersey; LV|LVA|Latvia; LT|LTU|Lithuania; NO|NOR|Norway;
    SJ|SJM|Svalbard and Jan Mayen; SE|SWE|Sweden; GB|GBR|United Kingdom|UK|Great Britain
Europe / Southern Europe: AL|ALB|Albania; AD|AND|Andorra; BA|BIH|Bosnia and Herzegovina;
    HR|HRV|Croatia; GI|GIB|Gibraltar; GR|GRC|Greece; VA|VAT|Vatican|Holy See; IT|ITA|Italy;
    MT|MLT|Malta; ME|MNE|Montenegro; MK|MKD|North Macedonia|Macedonia; PT|PRT|Portugal; SM|SMR|San
    Marino; RS|SRB|Serbia; SI|SVN|Slovenia; ES|ESP|Spain
Europe / Western Europe: AT|AUT|Austria; BE|BEL|Belgium; FR|FRA|France; DE|DEU|Germany;
    LI|LIE|Liechtenstein; LU|LUX|Luxembourg; MC|MCO|Monaco; NL|NLD|Netherlands|Holland;
    CH|CHE|Switzerland
Oceania / Australia and New Zealand: AU|AUS|Australia; CX|CXR|Christmas Island; CC|CCK|Cocos
    (Keeling) Islands; HM|HMD|Heard Island and McDonald Islands; NZ|NZL|New Zealand;
    NF|NFK|Norfolk Island
Oceania / Melanesia: FJ|FJI|Fiji; NC|NCL|New Caledonia; PG|PNG|Papua New Guinea; SB|SLB|Solomon
    Islands; VU|VUT|Vanuatu
Oceania / Micronesia: GU|GUM|Guam; KI|KIR|Kiribati; MH|MHL|Marshall Islands; FM|FSM|Federated
    States of Micronesia; NR|NRU|Nauru; MP|MNP|Northern Mariana Islands; PW|PLW|Palau;
    UM|UMI|United States Minor Outlying Islands
Oceania / Polynesia: AS|ASM|American Samoa; CK|COK|Cook Islands; PF|PYF|French Polynesia;
    NU|NIU|Niue; PN|PCN|Pitcairn; WS|WSM|Samoa; TK|TKL|Tokelau; TO|TON|Tonga; TV|TUV|Tuvalu;
    WF|WLF|Wallis and Futuna
"""


@cache
def icd10_blocks() -> tuple[tuple[str, str], ...]:
    """Every block of ICD-10 and every part of one, its first and last category."""
    return tuple((text[:3], text[4:]) for text in BLOCKS.split())


def icd10_chapters() -> tuple[tuple[str, str], ...]:
    """The first and last category of each chapter."""
    return CHAPTERS


@cache
def countries() -> dict[str, tuple[str, str]]:
    """The sub-region and region of each country, by its codes and names in small letters."""
    found: dict[str, tuple[str, str]] = {}
    for line in re.split(r"\n(?=\S)", REGIONS.strip()):
        where, _, listed = " ".join(line.split()).partition(": ")
        region, _, part = where.partition(" / ")
        for country in listed.split("; "):
            found |= {name.casefold(): (part, region) for name in country.split("|")}
    return found


def steps_of_icd(code: str) -> tuple[str, str, str]:
    """Category, narrowest block and chapter of a code; of one in no block or chapter, that."""
    category = code[:3]
    within = [f"{first}-{last}" for first, last in CHAPTERS if first <= category <= last]
    within += [name for (first, last), name in ADDED.items() if first <= category <= last]
    chapter = within[0] if within else f"{category[0]} (no chapter)"
    inside = [ends for ends in icd10_blocks() if ends[0] <= category <= ends[1]]
    if not inside:
        return category, f"{chapter} (no block)", chapter
    first, last = max(inside, key=lambda ends: (ends[0], -_place(ends[1])))
    return category, f"{first}-{last}", chapter


def icd_ladder(codes: Sequence[str]) -> Ladder:
    """Category, block and chapter of codes in any case.

    A category that is a value, too, is written E11.- as a group: it also holds E11.9.
    """
    steps = {code: steps_of_icd(code.upper()) for code in codes}
    held = Counter(path[0] for path in steps.values())
    both = {code for code, path in steps.items() if code == path[0] and held[code] > 1}
    return Ladder({
        code: (f"{path[0]}.-" if path[0] in both else path[0], *path[1:])
        for code, path in steps.items()
    })  # fmt: skip


def _place(category: str) -> int:
    """Where a category stands in the order of all."""
    return int(category, 36)


@typed
def by_icd10(people: People, column: str) -> Ladder:
    """A hierarchy of a column of `people` that holds ICD-10 codes: category, block, chapter.

    Blocks and chapters are those of the World Health Organization's version of 2019, and a block is
    the narrowest that it lists (C15-C26 within C00-C97).  A code of a clinical modification goes
    where its first three characters lie; what such a one adds to a chapter (D49, K94, O9A, V00,
    Y99) goes to that chapter, in no block.  The `column` holds
    codes with or without a dot, in any case; where E11 is a value beside E11.9 the category of both
    is E11.-.

    >>> codes = {"dx": ["C50.1", "E11.9"]}
    >>> people = People.from_codes([[0], [1]], ["dx"], labels=codes)
    >>> [by_icd10(people, "dx").up("E11.9", level) for level in (1, 2, 3)]
    ['E11', 'E10-E14', 'E00-E90']
    """
    texts = _texts(people, column)
    wrong = sum(ICD.fullmatch(text) is None for text in texts)
    if wrong:
        raise DataError(
            f'column "{column}": {counted(wrong, "value")} of {len(texts):,} are no codes of '
            f"ICD-10, such as E11.9"
        )
    return icd_ladder(texts)


@typed
def by_region(people: People, column: str, *, more: Mapping[str, str] | None = None) -> Ladder:
    """A hierarchy of a column of `people` that holds countries: sub-region, region [M49].

    The `column` holds ISO 3166 codes (two or three letters) or English names.  `more` says the
    sub-region of what the list does not have, such as {"Kosovo": "Southern Europe"}.

    >>> people = People.from_codes([[0], [1]], ["born"], labels={"born": ["France", "PER"]})
    >>> [by_region(people, "born").up("PER", level) for level in (1, 2)]
    ['South America', 'Americas']
    """
    parts = dict(countries().values())
    own = {}
    for value, part in (more or {}).items():
        if not isinstance(part, str) or part not in parts:
            raise UsageError(f'more: no sub-region "{part}"; {did_you_mean(str(part), parts)}')
        own[str(value).casefold()] = part, parts[part]
    known, texts = countries() | own, _texts(people, column)
    wrong = sum(text.casefold() not in known for text in texts)
    if wrong:
        raise DataError(
            f'column "{column}": {counted(wrong, "value")} of {len(texts):,} are no country by '
            f"ISO code or English name; say where each belongs: "
            f'more={{"Kosovo": "Southern Europe"}}'
        )
    return Ladder({text: known[text.casefold()] for text in texts})


def are_countries(texts: Sequence[str], column: str) -> bool:
    """Whether all are countries: names, codes of three letters, or of two in a column that says so.

    CA, DE, GA and IN are states, too, and many codes of two letters are languages.
    """
    known = countries()
    if any(text.casefold() not in known for text in texts):
        return False
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column).casefold()
    said = not _COUNTRY.isdisjoint(re.split(r"[^a-z]+", words))
    return said or all(len(t) > 3 or (len(t) == 3 and t.isupper()) for t in texts)


_COUNTRY = frozenset(("country", "countries", "nation", "nationality", "citizen", "citizenship"))
UK_POSTCODE = re.compile(r"([A-Z]{1,2})(\d[A-Z\d]?) ?(\d)[A-Z]{2}", re.IGNORECASE)


def steps_of_uk_postcode(postcode: str) -> tuple[str, str, str]:
    """Sector, district and area of a postcode of the United Kingdom.

    >>> steps_of_uk_postcode("EC1A 1BB"), steps_of_uk_postcode("m11ae")
    (('EC1A 1', 'EC1A', 'EC'), ('M1 1', 'M1', 'M'))
    """
    found = UK_POSTCODE.fullmatch(postcode)
    assert found is not None  # noqa: S101 - looked at before
    area, district, sector = found.group(1, 2, 3)
    return f"{area}{district} {sector}".upper(), f"{area}{district}".upper(), area.upper()


def _texts(people: People, column: str) -> list[Any]:
    return [str(value) for value in people.labels(column).tolist() if value is not None]
