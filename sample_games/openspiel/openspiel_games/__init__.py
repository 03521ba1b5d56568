"""Games of OpenSpiel for pokearena: an adapter, and a class for each game (`games`)."""
