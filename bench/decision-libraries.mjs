/**
 * What one would use instead of the product's own engine: two libraries on the same table and the same inputs, each decision
 * checked. Runs in a folder of its own, where the libraries are installed; measures one round of whatever its parent names.
 */
import fs from 'node:fs'
import { ZenEngine } from '@gorules/zen-engine'
import { Engine } from 'json-rules-engine'

const { goRules, jsonRules, applicants, scores, passes } = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'))

const decision = new ZenEngine().createDecision(Buffer.from(JSON.stringify(goRules)))
const engine = new Engine(jsonRules)
const stopping = new Engine(jsonRules)
stopping.on('success', () => stopping.stop())

const libraries = {
  '@gorules/zen-engine': async (applicant) => (await decision.evaluate(applicant)).result.score,
  '@gorules/zen-engine with its trace': async (applicant) =>
    (await decision.evaluate(applicant, { trace: true })).result.score,
  // The row with the highest priority is the first event.
  'json-rules-engine': async (applicant) => (await engine.run(applicant)).events[0].params.score,
  'json-rules-engine, stopped by hand at the first hit': async (applicant) =>
    (await stopping.run(applicant)).events[0].params.score,
}

/** Microseconds of one decision. */
async function measure(decide) {
  const from_ms = performance.now()
  for (let pass = 0; pass < passes; pass++) {
    for (let n = 0; n < applicants.length; n++) {
      const score = await decide(applicants[n])
      if (score !== scores[n]) throw new Error(`${JSON.stringify(applicants[n])} gave ${score}, not ${scores[n]}`)
    }
  }
  return ((performance.now() - from_ms) * 1000) / (passes * applicants.length)
}

process.on('message', async (name) => process.send({ each_us: await measure(libraries[name]) }))
process.send({ names: Object.keys(libraries) })
