"""The controller: a pure machine over the records of the cluster's metadata log.

- :mod:`.machine`: the ``Controller``; what it decides is in :mod:`.topics`, :mod:`.deletion`,
  :mod:`.growth`, :mod:`.configs`, :mod:`.feature_updates`, :mod:`.producer_ids`, :mod:`.elections`,
  :mod:`.brokers` and :mod:`.unregistration`, each from a :mod:`.context`. :mod:`.leadership`:
  what becomes of partitions when brokers go and come.
- :mod:`.image`: the state of the cluster; :mod:`.model` is what it is made of, :mod:`.changes`
  how it tells what a record changed.
- :mod:`.records`: a record in the log as bytes. :mod:`.snapshot`, :mod:`.bootstrap`: where an
  image begins.
- :mod:`.features`, :mod:`.names`: which features there are, what a topic may be called.
- :mod:`.ports`: what is handed in: chance and the rules for settings. :mod:`.placement`: which
  brokers hold what.
"""
