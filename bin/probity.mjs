#!/usr/bin/env node
/**
 * The command line: checks the Node version, builds what is stale when the sources are here, then hands over to the
 * bundle. It writes nothing to standard output itself, because other programs read the output of some commands.
 */
import fs from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url)
const bundle = new URL('dist/probity.mjs', root)
const argv = process.argv.slice(2)

const { engines } = JSON.parse(fs.readFileSync(new URL('package.json', root), 'utf8'))
if (!satisfies(process.version, engines.node)) stop(`Probity needs Node ${engines.node}; this is ${process.version}.`)
if (fs.existsSync(new URL('src', root))) await buildFor(argv.find((argument) => !argument.startsWith('-')))
if (!fs.existsSync(bundle)) stop('The bundle dist/probity.mjs is missing: run "npm run build" first.')

// Node 22.8 and later keep compiled code between runs. Node 20 does not.
module.enableCompileCache?.()
const { main, mapStackTraces } = await import(bundle.href).catch((error) => {
  if (error.code === 'ERR_MODULE_NOT_FOUND') stop(`${error.message}: run "npm ci" first.`)
  throw error
})
mapStackTraces?.(fileURLToPath(new URL('dist', root)))
process.exitCode = await main(argv)

/** Understands the two forms used in package.json: `^20.19.0` and `>=24.0.0`. */
function satisfies(version, ranges) {
  const numbers = (text) => text.match(/\d+/g).slice(0, 3).map(Number)
  const have = numbers(version)
  return ranges.split('||').some((range) => {
    const want = numbers(range)
    const differs = have.findIndex((number, place) => number !== want[place])
    const isAtLeast = differs === -1 || have[differs] > want[differs]
    return isAtLeast && (range.trim().startsWith('>=') || have[0] === want[0])
  })
}

async function buildFor(command) {
  const servesPages = command === 'start' || command === 'api'
  const isReported = servesPages || command === 'worker' || process.stderr.isTTY
  const { build } = await import(new URL('scripts/build.mjs', root).href)
  const started = performance.now()
  const parts = servesPages ? ['bundle', 'console', 'docs'] : ['bundle']
  const built = await build({ parts }).catch((error) => stop(error.message))
  if (!isReported || built.length === 0) return
  process.stderr.write(`built ${built.join(', ')} in ${((performance.now() - started) / 1000).toFixed(1)} s\n`)
}

function stop(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}
