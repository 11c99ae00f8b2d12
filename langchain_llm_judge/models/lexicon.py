"""Word lists of the embedded engine, English."""

from __future__ import annotations

from collections.abc import Mapping


def _listed(text: str) -> list[str]:
    return text.split()


def _paired(text: str) -> list[tuple[str, str]]:
    return [(first, second) for first, _, second in (pair.partition("/") for pair in text.split())]


FUNCTION_WORDS = frozenset(
    _listed(
        "a an the and or but nor if then else than so yet of at by for with about against between among into onto "
        "through during before after to from in out on off over under up down again further once here there when "
        "where why how all any both each either few more most other others some such only own same too very also just "
        "even still already i me my mine we us our ours you your yours he him his she her hers it its they them their "
        "theirs myself yourself himself herself itself themselves what which who whom whose this that these those am "
        "is are was were be been being have has had having do does did doing done can could will would shall should "
        "may might must ought need as while because since until although though however therefore thus hence indeed s "
        "t d ll m re ve yes well oh ok okay please one ones etc eg ie via per upon within without across along not no "
        "never none neither cannot every get gets got getting"
    )
)
"""Words that are no content; a claim is not measured by them."""

NEGATORS = frozenset(_listed("not no never none neither nor cannot without nobody nothing nowhere hardly barely"))
"""Words that turn what follows into its opposite; `n't` counts as `not`."""

DENIALS = frozenset(
    _listed(
        "lack fail refuse deny avoid prevent unable exclude forbid prohibit ban stop except instead rather only unless "
        "end reject lose miss little few"
    )
)
"""Words that can say in their own way what a negator says."""

DETERMINERS = frozenset(_listed("a an the your my our his her its their this that these those all any each some to"))
"""What follows a command (`Enter a …`), but no name."""

HEDGES = frozenset(_listed("about around approximately approx roughly nearly almost over some circa"))
"""Words before a number that is not meant to the digit."""

UNITS = frozenset(
    _listed(
        "minute hour day week month quarter year decade century percent celsius fahrenheit kelvin mm cm meter "
        "metre km kilometer kilometre mile foot feet ft inch inches yard acre hectare mg gram kg kilogram ton tonne "
        "lb lbs pound ounce oz ml liter litre gallon barrel dollar euro yen cent rupee franc usd eur gbp kb mb gb tb "
        "byte bit hz khz mhz ghz watt kw mw gw kwh volt amp mph kmh calorie kcal joule"
    )
)
"""What a number can be a number of."""

MONTHS = tuple(_listed("january february march april may june july august september october november december"))

SPELLED: Mapping[str, int] = {
    word: value
    for value, word in enumerate(
        _listed(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen"
        )
    )
} | {tens: 10 * n for n, tens in enumerate(_listed("twenty thirty forty fifty sixty seventy eighty ninety"), 2)}
"""Numbers written in letters."""

ORDINALS: Mapping[str, int] = {
    word: n for n, word in enumerate(_listed("first second third fourth fifth sixth seventh eighth ninth tenth"), 1)
}

SCALES: Mapping[str, float] = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
TAILS: Mapping[str, float] = {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}
"""What is written right behind a number to multiply it."""

SYMBOLS: Mapping[str, str] = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "°": "degree"}

IRREGULAR: Mapping[str, str] = dict(
    _paired(
        "fell/fall fallen/fall rose/rise risen/rise grew/grow grown/grow won/win lost/lose bought/buy sold/sell "
        "gave/give given/give took/take taken/take made/make said/say held/hold wrote/write written/write began/begin "
        "begun/begin built/build led/lead became/become knew/know known/know chose/choose chosen/choose drove/drive "
        "driven/drive ran/run sang/sing sung/sing spoke/speak spoken/speak spent/spend sent/send kept/keep meant/mean "
        "met/meet paid/pay told/tell taught/teach thought/think brought/bring caught/catch fought/fight sought/seek "
        "shown/show flew/fly flown/fly came/come went/go gone/go broke/break broken/break lay/lie stood/stand "
        "understood/understand felt/feel heard/hear slept/sleep swam/swim threw/throw thrown/throw drew/draw "
        "drawn/draw ate/eat eaten/eat drank/drink men/man women/woman children/child feet/foot teeth/tooth mice/mouse"
    )
)
"""Forms that no ending gives away, with the form they belong to."""

OPPOSITES: frozenset[tuple[str, str]] = frozenset(
    _paired(
        "win/lose more/less higher/lower high/low above/below before/after earlier/later early/late old/new "
        "older/younger larger/smaller large/small big/small longer/shorter maximum/minimum most/least best/worst "
        "better/worse first/last open/closed true/false right/wrong north/south east/west northern/southern "
        "eastern/western hot/cold warm/cold buy/sell import/export enter/exit arrive/depart accept/reject "
        "required/optional mandatory/optional include/exclude enable/disable free/paid public/private male/female "
        "positive/negative safe/dangerous cheap/expensive success/failure pass/fail over/under with/without "
        "always/never approve/reject forbid/allow forbid/permit prohibit/allow prohibit/permit ban/allow deny/allow"
    )
)
"""Words of which only one can be right."""

RISING = frozenset(_listed("increase rise grow gain climb improve soar expand"))
FALLING = frozenset(_listed("decrease fall drop shrink lose decline worsen plunge"))
"""Each word of one list is the opposite of each word of the other."""
