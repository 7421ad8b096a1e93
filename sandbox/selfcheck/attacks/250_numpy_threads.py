# attack: numpy_threads
# threat: pids
# expect: CONTAINED: a library that starts many threads of its own stays within the limit of tasks
import os
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "500"
try:
    import numpy
    a = numpy.ones((300, 300))
    print("CONTAINED", float((a @ a)[0, 0]), len(os.listdir("/proc/self/task")), "threads")
except ImportError as e:
    print("CONTAINED", e)
