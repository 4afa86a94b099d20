"""What a user finds when looking around: few names on top, the rest in the rooms they belong to."""

from types import ModuleType

import pytest

import reidbn as rb

SHOWN = dir(rb)
ROOMS = {name: getattr(rb, name) for name in SHOWN if isinstance(getattr(rb, name), ModuleType)}
OLDER = sorted(set(rb.__homes__) - set(SHOWN))
# Older doors whose better place is not a room: another word, or a verb of a value.
ELSEWHERE = {"Case": rb.Asked, "population_uncertainty": rb.Assessment.population_uncertainty}


def test_few_names_are_on_top():
    assert rb.__all__ == SHOWN
    assert len(SHOWN) <= 45
    assert sorted(ROOMS) == [
        "attack", "cpd", "datasets", "errors", "leak", "microdata", "population", "records",
        "report", "secrets", "whatif",
    ]  # fmt: skip


@pytest.mark.parametrize("room", ["rb", *ROOMS])
def test_a_room_shows_public_names_and_each_says_what_it_is(room):
    place = ROOMS.get(room, rb)
    assert dir(place) == sorted(place.__all__)
    for name in dir(place):
        assert name == "__version__" or not name.startswith("_")
        assert (getattr(place, name).__doc__ or "").strip(), f"{room}.{name} says nothing"


def test_there_are_older_doors():
    """Those that documents and other people's notebooks name; none may go."""
    assert len(OLDER) == 87
    assert {"And", "Bands", "Near", "disclosure_all", "dumps", "sobol", "toy_hospital"} < set(OLDER)


@pytest.mark.parametrize("name", OLDER)
def test_an_older_door_leads_to_the_thing_in_its_new_place(name):
    thing = getattr(rb, name)
    if name in ELSEWHERE:
        assert thing is ELSEWHERE[name]
    else:
        places = [r for r, room in ROOMS.items() if name in dir(room)]
        assert len(places) == 1
        assert thing is getattr(ROOMS[places[0]], name)
