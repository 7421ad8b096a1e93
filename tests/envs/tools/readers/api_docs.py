"""Solves tasks of `tools/api-docs` by the documents of the service."""

import re
from collections import defaultdict

from tests.envs.tools.readers.player import wishes


def api_docs(player, prompt):
    pages = {
        title: player.ask("read_document", title=title) for title in player.ask("list_documents")
    }
    unit = int(re.search(r"is written as (\d+),", pages["Units"])[1])
    codes = {word: code for code, word in re.findall(r"(\w+) is (\w+)", pages["Codes"])}
    access = {}
    if "Access" in pages:
        key, value = re.search(r"parameter (\w+) with the text (\w+)", pages["Access"]).groups()
        access = {key: value}

    def send(title, **values):
        page = pages[title]
        method, path = page.split("\n")[0].split()
        params = dict(access)
        for label, what in re.findall(r"^Parameter (\w+): (.*)\.$", page, re.MULTILINE):
            kind = next(
                k for k in ("name of the keeper", "keeper", "state", "name", "") if k in what
            )
            if "full name of the keeper" in what:
                params[label] = values["keeper"]
            elif kind == "state":
                params[label] = codes[values["state"]]
            elif kind == "name":
                params[label] = values["name"]
            else:
                params[label] = values["amount"] * unit
        path = path.replace("<name>", values["name"])
        return player.ask("send_request", method=method, path=path, params=params)

    titles = defaultdict(list)
    for title in pages:
        titles[title.split()[0]].append(title)
    reading, adding, removing = (titles[w][0] for w in ("Reading", "Adding", "Removing"))
    gives = dict(re.findall(r"(\w+) is the (\w+)", pages[reading].split("Gives")[1]))

    def read(name):
        shown = send(reading, name=name)
        return {what: shown[label] for label, what in gives.items()}

    amount = re.search(r"holds the name, the (\w+) in", prompt)[1]
    for words in wishes(prompt):
        if m := re.fullmatch(rf"Set the {amount} of the \w+ (\w+) to (\d+) \w+\.", words):
            send(f"Changing the {amount}", name=m[1], amount=int(m[2]))
        elif m := re.fullmatch(rf"Raise the {amount} of the \w+ (\w+) by (\d+) \w+\.", words):
            now = read(m[1])[amount] // unit
            send(f"Changing the {amount}", name=m[1], amount=now + int(m[2]))
        elif m := re.fullmatch(r"Put the \w+ (\w+) into the state '(\w+)'\.", words):
            send("Changing the state", name=m[1], state=m[2])
        elif m := re.fullmatch(r"Make (.*) the keeper of the \w+ (\w+)\.", words):
            send("Changing the keeper", name=m[2], keeper=m[1])
        elif m := re.fullmatch(r"Give the \w+ (\w+) the keeper that the \w+ (\w+) has\.", words):
            send("Changing the keeper", name=m[1], keeper=read(m[2])["full"])
        elif m := re.fullmatch(
            r"Add a \w+ named (\w+) with a \w+ of (\d+) \w+, in the state '(\w+)', with (.*) as its keeper\.",
            words,
        ):
            send(adding, name=m[1], amount=int(m[2]), state=m[3], keeper=m[4])
        else:
            m = re.fullmatch(r"Remove the \w+ (\w+)\.", words)
            send(removing, name=m[1])
