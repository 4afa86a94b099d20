"""Published shares that the synthetic patients are drawn from, as small tables of our own.

Sources.  All but the last two tables are survey-weighted shares of adults (18 and over) in the
public-use files of the American Time Use Survey with its Current Population Survey record
(U.S. Bureau of Labor Statistics and Census Bureau, public domain): respondents of 2012-2016,
and of 2003-2016 for states.  Rows are per 1,000; small cells are drawn towards the row of all
groups together, p = (n p_cell + 50 p_all) / (n + 50).  Countries of birth are counts in the UCI
data set Adult (Becker and Kohavi 1996, CC BY 4.0), parted by continent.  Diagnoses are reasons
for current drugs in NHANES 2013-2014 (National Center for Health Statistics, public domain),
unweighted, each person counted once over their reasons.  Ages above 79 are printed as 80-84 and
85+ in the source; how they are spread within is an assumption.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GROUPS = ("White", "Black", "Asian", "Hispanic", "Other")
"""Race and ethnicity together: the four races are those of people who are not Hispanic."""
BANDS = (18, 25, 35, 45, 55, 65, 75)
"""Where the seven age bands start."""
SEXES = ("female", "male")
RACES = ("White", "Black", "Asian", "Other")
EDUCATION = ("less than high school", "high school", "some college", "associate", "bachelor",
             "master", "professional", "doctorate")  # fmt: skip
SCHOOLING = (0, 1, 2, 2, 3, 4, 4, 4)
"""The coarser grades that work and income go by."""
MARITAL = ("married", "widowed", "divorced", "separated", "never married")
WORK = ("private", "government", "self-employed", "without pay", "not employed")
WORKING = (1, 1, 2, 2, 0)
INCOME = ("<=50K", ">50K")
TENURE = ("own", "rent", "free")
DIAGNOSES = (
    "none",
    "hypertension",
    "high cholesterol",
    "type 2 diabetes",
    "reflux",
    "depression",
    "anxiety",
    "hypothyroidism",
    "back pain",
    "asthma",
    "heart disease",
    "arthritis",
    "insomnia",
    "migraine",
    "COPD",
    "epilepsy",
    "bipolar disorder",
    "attention deficit",
    "osteoporosis",
    "glaucoma",
    "HIV",
    "schizophrenia",
    "cancer",
    "other",
)


def _table(text: str, *shape: int) -> NDArray[np.float64]:
    """Rows of shares, each summing to 1, in the given shape."""
    rows = np.array(text.split(), dtype=np.float64).reshape(*shape)
    rows /= rows.sum(axis=-1, keepdims=True)
    rows.setflags(write=False)
    return rows


_BY_STATE = """
    AL 1043  466   14   31   23    AK  130    4   11    6   30    AZ 1115   68   32  523   75
    AR  725  162    9   50   17    CA 4979  584 1046 3764  239    CO 1293   50   30  287   28
    CT  857   85   45  119   10    DE  209   46    8   16    1    DC   93  104    7   17    3
    FL 3427  730  108 1215   59    GA 1677  870   90  238   45    HI   72    5  111   16   76
    ID  468    2    5   55   11    IL 2976  565  169  515   41    IN 2015  196   21  113   22
    IA 1023   26   19   65   11    KS  852   69   19   67   29    KY 1406  134    9   33   12
    LA  808  436   13   44   12    ME  452    4    1    4    6    MD 1156  543   99  122   23
    MA 1801  118   83  162   25    MI 2886  425   97  136   64    MN 1894   70   61   65   30
    MS  547  379    3   16   12    MO 1777  216   23   61   37    MT  310    1    2    4   23
    NE  553   16   15   50   16    NV  488   57   58  194   22    NH  430    5   12   19    6
    NJ 1822  298  212  466   38    NM  288   12    8  262   46    NY 3636  868  313  868   48
    NC 2081  663   60  182   83    ND  234    1    5    3   23    OH 3385  406   61  102   32
    OK  887   99   16   77  123    OR 1194   22   36  124   38    PA 4048  419   79  167   34
    RI  289   17    3   34    3    SC  968  366   10   39   17    SD  267    3    2    6   16
    TN 1663  276   17   79   26    TX 3544  878  243 2848   91    UT  844   12   13  114   17
    VT  193    0    5    2    2    VA 1949  517  128  154   42    WA 1764   66  138  195   94
    WV  642   16    1    4    8    WI 1943   82   22  109   30    WY  171    1    0    9    7
"""
STATES = tuple(word for word in _BY_STATE.split() if word.isalpha())
STATE_AND_GROUP = _table(" ".join(w for w in _BY_STATE.split() if w.isdigit()), 51 * 5)
"""State and group together, per 100,000 adults: White, Black, Asian, Hispanic, Other."""

_BY_AGE = """
    1672 1339 1767 1770 1785 1978 1936 1806 1667 1809 1846 1864 1833 1768 1778 1695
    1654 1649 1607 1659 1565 1761 1661 1516 1820 1736 1709 1637 1693 1674 1834 1827
    1852 1859 1800 1905 1878 1687 1879 1784 1818 1755 1601 1708 1397 1491 1532 1421
    1445 1244 1140 1109 1040 930 969 822 797 767 695 768 654 581 655 579
    504 428 353 411 329 263 211 168 135 108  86  69  55
"""
AGE = np.array(_BY_AGE.split(), dtype=np.float64)
"""Adults of each age from 18 on, per 100,000."""

RACE_OF_HISPANIC = _table("938 24 5 33", 4)

BAND = _table("""
    102 160 152 181 183 126  96
    136 176 156 190 176 104  63
    139 244 241 167 113  60  36
    191 229 219 172 102  57  31
    183 221 175 172 154  64  31
""", 5, 7)  # fmt: skip
"""Age band, by group."""

SEX = _table("506 494  506 494  510 490  510 490  520 480  534 466  587 413", 7, 2)
"""Sex, by age band."""

SCHOOL = _table("""
    110 282 374  56 165  10   2   1    39 222 156 105 325 115  19  19
     37 235 153 114 286 131  22  22    49 320 152 112 232 100  18  17
     59 329 163 109 198 106  18  18    71 353 164  83 174 111  17  27
    143 409 139  65 142  65  17  20   189 353 336  55  57  10   0   0
     82 275 231 112 225  60   5  10    78 310 192 109 193  96  11  11
    101 368 177 115 141  76  11  11   146 378 185  93 122  62   7   7
    238 357 145  57 110  71   7  15   320 360 111  57  80  61   7   4
    110 202 465  48 156  19   0   0    39  98  78  63 400 255  23  44
     40 113  75  58 321 288  35  70    79 182  76  96 307 194  24  42
    123 269  74  55 301 120  23  35   140 250 133  39 309  96   7  26
    185 337 108  28 215  66  15  46   220 332 342  53  52   1   0   0
    268 298 149  88 144  42   6   5   325 306 117  67 123  48   6   8
    343 300 129  61 114  41   6   6   319 330 115  74 102  45   7   8
    389 303 113  61  86  32   9   7   522 238  97  19  74  40   7   3
    165 373 337  39  83   3   0   0    76 217 163 132 293  78  23  18
     51 272 211 101 241  76   8  40   163 313 192  97 154  66  12   3
     97 295 206 143 176  67   9   7   159 264 187 116 117  90   8  59
    164 400 192  38 133  45  18  10
""", 5, 7, 8)  # fmt: skip
"""Education, by group and age band."""

MARRIAGE = _table("""
    135   2   7   9 847    39   2   8   2 949    77   0   3  14 906   166   0   4  27 803
     94   1   3   6 896   561   4  58  16 361   241   4  49  40 666   582   1  22   8 387
    558   2  42  37 361   406   9  97  35 453   716  10 116  20 138   411  10 129  74 376
    862  11  23  25  79   641  10 105  54 190   545  24 115  38 278   690  27 169  20  94
    399  38 195  78 290   750  26 111  12 101   640  31 150  66 113   527  22 276  32 143
    671  72 182  14  61   406 115 227  59 193   794  40 114   9  43   601  76 178  50  95
    571  77 181  79  92   586 203 160   7  44   357 253 222  37 131   669 178 105   5  43
    562 191 147  40  60   518 224 192  10  56   386 496  85   4  29   223 565 126  13  73
    417 466  85   3  29   298 531  74  18  79   315 562  92   3  28    83   0  10  11 896
     26   0   7   1 966    30   0   5   4 961    65   0   1   7 927    57   0   3   4 936
    476   1  36  16 471   273   2  24  25 676   446   2   6   3 543   481   1  35  21 462
    427   9  13   7 544   684   4 101  20 191   523   1  71  49 356   808   1  31   4 156
    686   3  74  35 202   629   1 101  25 244   698   9 146  19 128   508   5 183  47 257
    819  18  44  11 108   726  10 116  21 127   655   5 103  52 185   720  25 150  11  94
    544  45 179  56 176   848   9  75   6  62   724  19 146  23  88   641  27 190  13 129
    769  54 122  12  43   614  68 182  42  94   836  33  77   8  46   784  62  77  18  59
    686  80 168  19  47   687 210  59   2  42   590 253  88  21  48   740 194  36   4  26
    641 216  55  31  57   660 223  63   5  49
""", 2, 7, 5, 5)  # fmt: skip
"""Marital status, by sex, age band and group."""

JOB = _table("""
    356  43   9   6 586   537  40  26   0 397   575  83  17   2 323   670 153  13   0 164
    547 161  13   1 278   305  35  30   0 630   513  62  39   0 386   573  79  48   0 300
    610 163  46   0 181   560 262  33   0 145   447  39  21   1 492   517  82  49   1 351
    570 120  66   0 244   534 166  64   0 236   463 299  75   0 163   392  42  47   6 513
    514 110  63   2 311   517 161  64   0 258   487 213  92   2 206   433 322  85   0 160
    293  29  37   0 641   404  84  43   0 469   404 102  82   2 410   421 151  70   0 358
    335 305 101   0 259   108  21  21   0 850   136  25  44   0 795   173  18  40   0 769
    139  65  72   3 721   185  72  98   0 645    23   7  12   0 958    35   5  14   0 946
     36   9  16   0 939    36  17  29   0 918    77  17  17   0 889   422  30  31  11 506
    664  30  29   0 277   559  71  28   0 342   691 105  14   1 189   582 107  22   2 287
    625  17  87   0 271   744  44  54   0 158   703 100  49   2 146   735 125  47   0  93
    645 232  49   0  74   698  36  98   0 168   662  84  93   0 161   629 136  98   0 137
    697 135 106   1  61   654 227  65   0  54   560  34 128   2 276   573  97 120   0 210
    631 123 114   0 132   672 134 119   1  74   573 236 128   0  63   371  30  82   0 517
    442  88 117   0 353   469 102 118   0 311   529  98 158   0 215   448 186 163   0 203
    184  18  49   0 749   163  20 100   0 717   209  44 104   1 642   191  30 132   0 647
    204  88 168   0 540    45   4  17   0 934    65  15  51   0 869    44   9  49   0 898
     64  19  55   0 862    77  37  75   0 811
""", 2, 7, 5, 5)  # fmt: skip
"""Class of work, by sex, age band and schooling."""

EARNING = _table("""
    683 317   929  71   905  95   855 145   860 140   858 142
    674 326   798 202   782 218   810 190   686 314   725 275
    765 235   857 143   828 172   815 185   677 323   738 262
    667 333   859 141   838 162   700 300   611 389   684 316
    562 438   664 336   725 275   517 483   338 662   470 530
    693 307   643 357   730 270   533 467   419 581   470 530
    487 513   772 228   779 221   517 483   422 578   545 455
    496 504   554 446   642 358   392 608   205 795   345 655
    493 507   658 342   589 411   392 608   270 730   349 651
    416 584   600 400   625 375   336 664   199 801   309 691
    384 616   344 656   454 546   204 796   105 895   170 830
    415 585   445 555   451 549   174 826   117 883   309 691
    479 521   469 531   471 529   177 823   124 876   230 770
    285 715   201 799   279 721   106 894    48 952   105 895
    363 637   302 698   284 716   108 892   105 895   116 884
""", 5, 3, 2, 3, 2)  # fmt: skip
"""Family income, by schooling, working (no, employed, for oneself), married, and age under 35,
under 65, older."""

HOME = _table("""
    350 634  16   296 670  34   825 169   6   673 317  10
    289 689  22   413 567  20   579 418   3   761 234   5
    393 586  21   518 471  11   707 285   8   866 131   3
    493 482  25   673 316  11   782 211   7   921  73   6
    587 391  22   807 180  13   841 154   5   953  43   4
    678 307  15   888 103   9   889 102   9   964  33   3
    745 236  19   900  91   9   901  90   9   945  49   6
""", 7, 2, 2, 3)  # fmt: skip
"""Tenure, by age band, income and married."""

ABROAD = _table("""
    966  34   952  48   933  67   935  65   958  42   954  46   955  45
    895 105   848 152   797 203   844 156   897 103   925  75   933  67
    467 533   253 747   137 863   130 870   163 837   148 852   251 749
    667 333   458 542   325 675   319 681   390 610   403 597   402 598
    916  84   878 122   857 143   921  79   886 114   948  52   924  76
""", 5, 7, 2)  # fmt: skip
"""Born in the United States or abroad, by group and age band."""

COUNTRIES: tuple[dict[str, int], ...] = (
    {"Germany": 193, "Canada": 182, "England": 121, "Italy": 105, "Poland": 87, "Portugal": 67,
      "Greece": 49, "Iran": 44, "Ireland": 37, "France": 36, "Yugoslavia": 23, "Scotland": 21,
      "Hungary": 19},
    {"Jamaica": 98, "Haiti": 72, "Trinidad and Tobago": 21, "England": 11, "Germany": 11,
      "Dominican Republic": 18},
    {"Philippines": 279, "India": 124, "China": 119, "Korea": 110, "Vietnam": 84, "Taiwan": 61,
      "Japan": 53, "Hong Kong": 25, "Thailand": 25, "Cambodia": 24, "Laos": 23},
    {"Mexico": 950, "El Salvador": 154, "Cuba": 138, "Dominican Republic": 102, "Guatemala": 87,
      "Colombia": 85, "Nicaragua": 48, "Peru": 46, "Ecuador": 44, "Honduras": 19},
    {"Philippines": 13, "India": 9, "Iran": 6, "Japan": 3, "Jamaica": 3, "Canada": 2},
)  # fmt: skip
"""People born abroad, by group."""

ILLNESS = _table("""
    725   2   1   7  10  21  15   4   9  17   1   1   5   8   1   4   0  11   1   2   0   1   0 154
    659  33   5   3  14  29  35  14  11  22   4   3  11   5   2   2   3   9   1   0   1   0   1 133
    550  84  13  29  19  26  40  38  13  30   2   8  22  17   1   3   3   5   1   0   1   0   2  93
    345 132  52  40  43  41  40  64  30  20  15  18  24  23   5   6  10   4   1   2   1   2   6  76
    243 218 109  55  57  43  32  42  20  18  11  30  31   9   5   5   1   1  12   6   2   1   5  44
    106 260 151  72  70  27  30  56  17  19  37  29  17   5   6   2   3   0  30   8   0   2  11  42
     62 257 169  52  74  35  39  73  21  17  68  20  32   8   7   5   1   0  17  13   0   0   3  27
    847   2   1   2  12   7  20   1   8  18   1   1   2   5   1   1   2  18   1   0   0   0   1  49
    767  27   5   4   9  12  25   6  17  21   1   1   8   1   1   7   4  16   1   0   0   0   1  66
    701  50  35  28  40  12  12   0  10   7   1   8  11   4   1   3   2   4   1   0   2   1   0  67
    506 122  82  46  46  18  25   5  27   7   9  20  11   3   1   3   6   1   0   4   1   3   0  54
    318 206 134  60  60  22  17  10  21  10  24  22  27   2   6   6   3   0   0   6   1   4   1  40
    164 279 175  85  60  14  18   8  20  11  48  26  14   0  12   2   1   0   0  14   1   2   2  44
     90 226 214  72  68   8  12  26  13  15 110  25  17   1  14   1   1   1   2  16   1   1  10  56
""", 2, 7, 24)  # fmt: skip
"""The diagnosis on file, by sex and age band."""
