"""Generated from the schemas; see ``fencepost_protocol.codegen``. Do not edit."""
