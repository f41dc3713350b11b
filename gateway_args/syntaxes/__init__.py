"""The call syntaxes: few ways of writing a call, each with parameters that a table sets.

`registry` names them; a syntax's parameters stand in the module of its name, what reads its calls there or in the
module `<name>_reader`. A reader sees the text through `region` alone and decides with the primitives of `scanning` and
`pattern`; `values/` has the languages in which arguments are written, `sender` sends them, `state` saves all of it. A
new model should need none of this: its table names a syntax and fills in what differs.
"""
