/**
 * What it costs that copies of personal content are encrypted when they are written (ADR 0066): batches and an impact run of the
 * product beside the same product whose copies are stored as plain text. Single decisions are compared under load, in `targets.ts`.
 */
import { startChild } from './child.ts'
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import type { EncryptionRun, EncryptionRunOptions } from './encryption-run.ts'
import { median } from './median.ts'
import { type Comparison, formatInteger } from './registry-bench.ts'

const ITEMS = 100_000
const ROUNDS = 3
const FLOOR = 0.75
const encryptionParts = [
  'batch, first decisions about their subjects: keys are made',
  'batch about the same subjects: keys are read',
  'impact run over these decisions',
]
const builds = ['encryption-run', 'encryption-run-plain'] as const

/** Both builds in turn, each time in another order, each about subjects of its own, so that their keys are made again. */
export async function measureEncryption(
  databases: BenchDatabases,
  tenant_id: string,
  toScript: (name: string) => string,
  log: (text: string) => void,
): Promise<Comparison[]> {
  const runs: Record<(typeof builds)[number], EncryptionRun[]> = { 'encryption-run': [], 'encryption-run-plain': [] }
  for (let round = 0; round < ROUNDS; round++) {
    log(`encryption: round ${round + 1} of ${ROUNDS}, ${ITEMS} items`)
    for (const build of round % 2 === 0 ? builds : builds.toReversed()) {
      await databases.runAsAdmin('checkpoint')
      const options: EncryptionRunOptions = {
        app: databases.isolated('app'),
        worker: databases.isolated('worker'),
        master_key_hex: MASTER_KEY_HEX,
        superuser: databases.superuser,
        tenant_id,
        items: ITEMS,
        prefix: `${build}-${round}`,
      }
      runs[build].push(await runOnce(toScript(build), options))
    }
  }
  return encryptionParts.map((label, part) => {
    const ours = runs['encryption-run'].map((run) => run[part] as number)
    const plain = runs['encryption-run-plain'].map((run) => run[part] as number)
    const toRate = (times_ms: readonly number[]) => `${formatInteger((ITEMS / median(times_ms)) * 1000)}/s`
    return {
      label,
      entries: ITEMS,
      ours: toRate(ours),
      baseline: `copies stored plain ${toRate(plain)}`,
      ratio: median(ours.map((ms, round) => (plain[round] as number) / ms)),
      aim: FLOOR,
      floor: FLOOR,
    }
  })
}

async function runOnce(script: string, options: EncryptionRunOptions): Promise<EncryptionRun> {
  let finish: (run: EncryptionRun) => void
  let fail: (error: Error) => void
  const result = new Promise<EncryptionRun>((resolve, reject) => {
    finish = resolve
    fail = reject
  })
  const child = await startChild(script, options, { onEvent: (event) => finish(event as EncryptionRun) })
  child.process.once('exit', (code) => fail(new Error(`${script} ended with ${code} before it had measured`)))
  try {
    return await result
  } finally {
    await child.stop()
  }
}
