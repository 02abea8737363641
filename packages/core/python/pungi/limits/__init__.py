"""What runs may use: who counts it, who ends what goes beyond it, and the cgroups that do both where there are any."""
