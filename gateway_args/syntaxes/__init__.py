"""The call syntaxes: few ways of writing a call, each with parameters that a table sets.

`registry` names them; a syntax's parameters stand in the module of its name, what reads its calls there or in the
module `<name>_reader`. `arguments`, `header`, `fragments`, `writer` and `values` are what several share. A new model
should need none of this: its table names a syntax and fills in what differs.
"""
