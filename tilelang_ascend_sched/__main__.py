"""``python -m tilelang_ascend_sched``."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="python -m tilelang_ascend_sched")
