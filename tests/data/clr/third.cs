// Too short to be worth deflating.
