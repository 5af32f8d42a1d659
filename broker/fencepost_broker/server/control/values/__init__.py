"""Values of records as their own schema says: Avro and Protobuf.

model.py     what is asked and answered
process.py   starts the process that decodes, and bounds it; __main__.py is that process
avro.py      values by an Avro schema
protobuf.py  values by a .proto file or a descriptor set
framing.py   what serializers for a schema registry write before a value

A schema or a value can make a decoder work for hours (a record type that has a hundred fields of a
type that has a hundred fields, and so on), and the decoders are libraries in C. So they run in a
process of their own, with a limit of time and memory.
"""
