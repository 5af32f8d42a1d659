// KafkaJS against any broker:
// node client.mjs BOOTSTRAP SCENARIO... [--prefix=NAME] [--without-groups]
// What each scenario asks for stands in scenarios.toml, one folder up. KafkaJS reads only as a
// member of a group: --without-groups leaves all reading out, for a broker that has no groups yet.

import { parseArgs } from 'node:util'
import { admin, cluster } from './admin.mjs'
import { consume } from './consume.mjs'
import { consumerProtocol, groups } from './groups.mjs'
import { produce } from './produce.mjs'
import { killAfter, restartAfter, restartBefore } from './restart.mjs'
import { Script } from './script.mjs'
import { transactions } from './transactions.mjs'

const scenarios = {
    admin,
    cluster,
    produce,
    consume,
    'restart-before': restartBefore,
    'restart-after': restartAfter,
    'kill-after': killAfter,
    groups,
    'groups-consumer-protocol': consumerProtocol,
    transactions,
}

const {
    values: options,
    positionals: [bootstrap, ...chosen],
} = parseArgs({
    allowPositionals: true,
    options: {
        prefix: { type: 'string', default: 'kafkajs' },
        'without-groups': { type: 'boolean', default: false },
    },
})

if (chosen.length === 0 || chosen.some((name) => !(name in scenarios))) {
    console.error(`usage: BOOTSTRAP SCENARIO... [--prefix=NAME], out of ${Object.keys(scenarios)}`)
    process.exit(2)
}
const script = new Script(bootstrap, options.prefix, options['without-groups'])
for (const name of chosen) {
    await script.run(name, scenarios[name])
}
process.exit(script.failed ? 1 : 0)
