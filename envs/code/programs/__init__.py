"""Programs that tasks of envs/code are made of; see program_files.py."""
