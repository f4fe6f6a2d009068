"""The same pairs on the same engine by other means: what each keeps of its speed, and what a killed engine costs it."""
