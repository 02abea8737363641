"""The limits of runs: counting what runs use, ending those that exceed a limit, and the cgroups that do both where available."""
