"""Solves tasks of `tools/office` by their words."""

import re

from tests.envs.tools.readers.player import dispatch, wishes


def email_of(player, name):
    found = [c for c in player.ask("find_contacts") if c["name"] == name]
    assert len(found) == 1
    return found[0]["email"]


def contact_of(player, name):
    return next(c for c in player.ask("find_contacts") if c["name"] == name)


def inbox_of(player, name):
    return player.ask("list_mails", folder="inbox", sender=email_of(player, name))


def event_of(player, title):
    (event,) = [e for e in player.ask("list_events") if e["title"] == title]
    return event


def file_mails(player, name, folder):
    for mail in inbox_of(player, name):
        player.ask("move_mail", mail=mail["id"], folder=folder)


def delete_mails(player, name):
    for mail in inbox_of(player, name):
        player.ask("delete_mail", mail=mail["id"])


def tell_phone(player, to, subject, about):
    phone = contact_of(player, about)["phone"]
    player.ask("send_mail", to=email_of(player, to), subject=subject, body=phone)


def move_event(player, title, day):
    event = event_of(player, title)
    player.ask("move_event", event=event["id"], day=day, start=event["start"], end=event["finish"])


def cancel_event(player, title, subject):
    event = event_of(player, title)
    player.ask("cancel_event", event=event["id"])
    for guest in event["guests"].split(", "):
        player.ask("send_mail", to=guest, subject=subject, body="Off.")


def book(player, title, day, name):
    events = player.ask("list_events", day=day)
    for hour in range(9, 24):
        start, end = f"{hour:02d}:00", f"{hour + 1:02d}:00"
        if all(e["finish"] <= start or e["start"] >= end for e in events):
            break
    guests = [email_of(player, name)]
    player.ask("create_event", title=title, day=day, start=start, end=end, guests=guests)


def new_phone(player, name):
    (number,) = {
        number
        for mail in inbox_of(player, name)
        for number in re.findall(
            r"phone is (\S+)\.", player.ask("read_mail", mail=mail["id"])["body"]
        )
    }
    player.ask("update_contact", contact=contact_of(player, name)["id"], phone=number)


def share_newest(player, folder, name):
    files = sorted(player.ask("list_files", folder=folder), key=lambda f: f["changed"])
    assert len(files) < 2 or files[-1]["changed"] > files[-2]["changed"]
    player.ask("share_file", path=files[-1]["path"], email=email_of(player, name))


def delete_large(player, folder, most):
    for file in player.ask("list_files", folder=folder):
        if file["kilobytes"] > int(most):
            player.ask("delete_file", path=file["path"])


def save_code(player, name, path):
    (code,) = {
        code
        for mail in inbox_of(player, name)
        for code in re.findall(r"code is (\S+)\.", player.ask("read_mail", mail=mail["id"])["body"])
    }
    player.ask("write_file", path=path, content=code)


OFFICE = [
    (r"Move every mail in the inbox that came from (.*) to the folder (\w+)\.", file_mails),
    (r"Delete every mail in the inbox that came from (.*)\.", delete_mails),
    (r"Send (.*) a mail with the subject '(.*)'; .* have for (.*), and nothing else\.", tell_phone),
    (r"Move '(.*)' to (\S+), keeping its times, whatever else is on that day\.", move_event),
    (r"Cancel '(.*)' and send each .* subject '(.*)'\.", cancel_event),
    (r"Put the event '(.*)' into the calendar for (\S+): .* is on; (.*) is its only guest\.", book),
    (r"(.*) has written to you about a new phone number\. .*", new_phone),
    (r"Share the file in (\S+) that was changed last with (.*)\.", share_newest),
    (r"Delete every file in (\S+) of more than (\d+) kilobytes\.", delete_large),
    (r"(.*) has sent you a door code\. .* new file (\S+)\.", save_code),
]


def office(player, prompt):
    for words in wishes(prompt):
        dispatch(OFFICE, player, words)
