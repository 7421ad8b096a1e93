# attack: says_memory_error
# threat: status
# expect: CONTAINED: a program that says MemoryError is at most told as out of memory, never as the machine's fault
# status: nonzero_exit, memory_limit
raise MemoryError("cannot allocate memory: sandbox_error")
