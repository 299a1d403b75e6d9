"""ACP's modes and configuration options: both are what a session of the agent's is set to."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lsp_agent.protocol.catalogue import AcpHabits
from lsp_agent.toolset.loose_json import Frame, frame, frames, string

_MODE, _MODEL = "mode", "model"


@dataclass(frozen=True, slots=True)
class Option:
    """``values`` are as clients see them; ``category`` is ACP's, "" where it has none."""

    id: str
    name: str
    value: str
    values: tuple[Mapping[str, object], ...]
    description: str = ""
    category: str = ""

    @property
    def ids(self) -> list[str]:
        return [str(value["value"]) for value in self.values]

    def told(self) -> dict[str, object]:
        """As ``agent/options`` has it."""
        described = {"description": self.description} if self.description else {}
        return {
            "id": self.id,
            "name": self.name,
            **described,
            "value": self.value,
            "values": list(self.values),
        }


@dataclass(frozen=True, slots=True)
class Options:
    """``modes`` are those of an agent that has them beside, or instead of, its options. The model
    is no option here: it has methods of its own."""

    habits: AcpHabits
    listed: tuple[Option, ...] = ()
    modes: Option | None = None
    #: The mode that the person chose; no other in which the agent asks nobody is let stand.
    chosen_mode: str = ""

    def told_by(self, source: Frame) -> "Options":
        """With what an answer or an update says; options replace those before."""
        found = self
        if "configOptions" in source:
            options = [_option(each) for each in frames(source.get("configOptions"))]
            listed = tuple(each for each in options if each and each.category != _MODEL)
            found = replace(found, listed=listed)
        modes = frame(source.get("modes"))
        if current := string(modes, "currentModeId"):
            values = tuple(_value(each, "id") for each in frames(modes.get("availableModes")))
            modes_ = Option(_MODE, "Mode", current, values, category=_MODE)
            found = replace(found, modes=modes_)
        return found.in_mode(found._own_mode)

    @property
    def _own_mode(self) -> str:
        """As the options have it, which are told of later than the modes."""
        option = next((each for each in self.listed if each.category == _MODE), None)
        return option.value if option else self.mode

    @property
    def mode(self) -> str:
        return self._of_mode.value if self._of_mode else ""

    def in_mode(self, mode: str) -> "Options":
        """An agent that has it in both places tells of it in one alone."""
        listed = tuple(
            replace(each, value=mode) if each.category == _MODE else each for each in self.listed
        )
        modes = replace(self.modes, value=mode) if self.modes else None
        return replace(self, listed=listed, modes=modes)

    def after_refusal(self) -> "Options":
        """A mode that was chosen and is not had is no more a choice."""
        return self if self.mode == self.chosen_mode else replace(self, chosen_mode="")

    @property
    def allows_itself(self) -> bool:
        """Whether its mode is one in which it decides what it may do, and it could ask."""
        return self.decides_in(self.mode) and self.mode != self.chosen_mode

    def decides_in(self, mode: str) -> bool:
        asking, known = self.habits.asking_mode, self._of_mode.ids if self._of_mode else []
        return asking in known and mode not in (asking, *self.habits.idle_modes)

    @property
    def all(self) -> list[Option]:
        has_mode = any(each.category == _MODE for each in self.listed)
        beside = [self.modes] if self.modes is not None and not has_mode else []
        return [*beside, *self.listed]

    def find(self, option_id: str) -> Option | None:
        return next((each for each in self.all if each.id == option_id), None)

    def is_mode(self, option_id: str) -> bool:
        option = self.find(option_id)
        return option is not None and option.category == _MODE

    def request(self, session: str | None, option_id: str, value: str) -> tuple[str, Frame]:
        """Method and params that set an option; a mode by the method of its own if there are
        modes."""
        if self.modes is not None and self.is_mode(option_id):
            return "session/set_mode", {"sessionId": session, "modeId": value}
        params = {"sessionId": session, "configId": option_id, "value": value}
        return "session/set_config_option", params

    def ask(self, session: str | None) -> tuple[str, Frame]:
        """Method and params that have the agent ask again before it acts."""
        option = self._of_mode
        return self.request(session, option.id if option else _MODE, self.habits.asking_mode)

    @property
    def _of_mode(self) -> Option | None:
        return next((each for each in self.all if each.category == _MODE), None)


def choices(option: Frame) -> list[Frame]:
    """An option's values, which come plain or in groups."""
    found: list[Frame] = []
    for choice in frames(option.get("options")):
        found += frames(choice.get("options")) if "options" in choice else [choice]
    return found


def _option(source: Frame) -> Option | None:
    """None for one that is no choice among values."""
    if string(source, "type") != "select":
        return None
    option_id = string(source, "id")
    return Option(
        option_id,
        string(source, "name") or option_id,
        string(source, "currentValue"),
        tuple(_value(choice, "value") for choice in choices(source)),
        string(source, "description"),
        string(source, "category"),
    )


def _value(source: Frame, key: str) -> dict[str, object]:
    value = string(source, key)
    told: dict[str, object] = {"value": value, "name": string(source, "name") or value}
    if description := string(source, "description"):
        told["description"] = description
    return told
