"""A linked list whose nodes move to the front as they are looked for."""

ADD, BOUND, SPLIT = 5, 43, 4


# The program:
class Node:
    def __init__(self, value, rest=None):
        self.value, self.rest = value, rest

    def __iter__(self):
        yield self.value
        if self.rest:
            yield from self.rest

    def __len__(self):
        return 1 + (len(self.rest) if self.rest is not None else 0)


class Chain:
    def __init__(self, *values):
        self.head = Node(values[0])
        for value in values[1:]:
            self.head = Node(value, self.head)

    def find(self, x):
        before, node, steps = None, self.head, 0
        while node.rest and node.value % SPLIT != x % SPLIT:
            before, node, steps = node, node.rest, steps + 1
        node.value = (node.value + x + ADD) % BOUND
        if before:
            before.rest, node.rest, self.head = node.rest, self.head, node
        elif len(node) > 2:
            self.head, node.rest.rest, node.rest = node.rest, node, node.rest.rest
        return node.value + steps * max(self.head)
