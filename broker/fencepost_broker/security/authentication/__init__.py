"""Authentication of a listener's clients: the broker's side of SASL, without loop or socket."""
