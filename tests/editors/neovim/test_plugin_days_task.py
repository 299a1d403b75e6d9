"""A day's task with the plugin, from the first question to going back, by keyboard alone."""

import pytest
from neovim_days_task import Person
from plugin_desk import PluginDesk
from support import days_task as task
from support.days_task import Day, Record
from support.neovim import wait_until

pytestmark = [pytest.mark.neovim, pytest.mark.slow, pytest.mark.timeout(300)]


def test_a_days_task_has_no_dead_end(desk: PluginDesk, record_property: Record) -> None:
    for name, text in task.FILES.items():
        desk.file(name, text)
    day = Day(f"Neovim {desk.version}", record_property, most=60)
    person = Person(desk, day, desk.settings(*task.script()))
    with day.part("open a file, ask"):
        ask(person)
    with day.part("allow, steer, deny"):
        steer(person)
    with day.part("seven hunks in three files"):
        decide(person)
    with day.part("a round of comments"):
        comment(person)
    with day.part("ask in place"):
        ask_in_place(person)
    with day.part("undo the turn"):
        undo_the_turn(person)
    with day.part("restart, resume, prompt again"):
        go_on(person)
    with day.part("back to the second prompt"):
        go_back(person)
    assert desk.nvim.prompts == 0
    day.ends()


def ask(person: Person) -> None:
    person.command("e notes.txt")
    person.command(f"Agent ask {task.ASK}")
    person.desk.wait_for_chat("I do so.")


def steer(person: Person) -> None:
    desk = person.desk
    person.answer("touch begun", "Allow")
    wait_until((desk.folder / "begun").exists, 60)
    person.command(f"Agent steer {task.STEER}")
    desk.wait_for_chat("## You, while it works")
    assert task.STEER in desk.chat()
    (desk.folder / task.GO).touch()
    person.answer(task.DENIED, "Deny")
    desk.wait_for_chat("It is checked.")
    assert not (desk.folder / "denied").exists()


def decide(person: Person) -> None:
    person.command(f"Agent ask {task.CHANGE}")
    person.desk.wait_for_chat("The shop is changed.")
    for name, hunks in task.HUNKS.items():
        for _, new, kept in hunks:
            person.press("]v")
            person.wait_for_place(name)
            wait_until(lambda new=new: new in person.desk.nvim.lua("return vim.fn.getline('.')"))
            person.press(r"\ak" if kept else r"\au")
    person.wait_for_disk({name: task.decided(name) for name in task.FILES})
    person.desk.wait_for_marks()


def comment(person: Person) -> None:
    desk = person.desk
    person.command(f"Agent ask {task.TITLES}")
    desk.wait_for_chat("They have titles.")
    for name, (title, said, _) in task.COMMENTS.items():
        person.press("]v")
        person.wait_for_place(name, 1)
        assert desk.nvim.lines()[0] == title
        person.write(r"\ac", said)
        wait_until(lambda said=said: desk.beside("comments") == [[1, 1, f"● {said}"]])
    person.command("Agent comment send")
    desk.wait_for_chat("Both are answered.")
    person.wait_for_disk({name: task.commented(name) for name in task.FILES})
    person.command("Agent keep_all all")
    desk.wait_for_marks()


def ask_in_place(person: Person) -> None:
    person.command("e stock.txt")
    person.press("/cheese<CR>")
    person.wait_for_place("stock.txt", 3)
    person.write(r"\ai", task.IN_PLACE)
    changed = task.commented("stock.txt").replace("cheese ten", "cheese none")
    person.wait_for_disk({"stock.txt": changed})
    person.desk.wait_for_chat("So it is.")
    wait_until(lambda: person.desk.beside("inline"))
    assert person.desk.nvim.lines() == changed.splitlines()  # and eggs are none but ten


def undo_the_turn(person: Person) -> None:
    person.desk.wait_for_rest()
    person.command("Agent revert")
    person.wait_for_disk({name: task.commented(name) for name in task.FILES})


def go_on(person: Person) -> None:
    assert person.desk.nvim.prompts == 0  # no message took a key
    person.quit_and_come_back()
    person.command("e prices.txt")
    person.desk.wait_for_server()
    person.command("Agent sessions")
    person.pick(task.ASK)
    person.pick("Resume")
    person.desk.wait_for_chat("Both are answered.")
    person.command(f"Agent ask {task.AGAIN}")
    person.desk.wait_for_chat("Here I am.")
    person.desk.wait_for_rest()


def go_back(person: Person) -> None:
    desk = person.desk
    person.command("Agent rewind")
    person.pick(task.CHANGE)
    person.pick("The conversation and the files")
    person.wait_for_disk(task.FILES)
    wait_until(lambda: desk.nvim.lines() == [task.CHANGE], 60)  # to be changed and sent again
    person.press(f"<Esc>cc{task.OTHERWISE}<CR>")
    desk.wait_for_chat("One thing is done.")
    changed = task.PRICES.replace("grapes 7", "grapes 70")
    person.wait_for_disk(task.FILES | {"prices.txt": changed})
    assert "It is checked." in desk.chat()
