/** The limits of the thread that reads payloads; what it reads is tested in admit.test.ts. */
import path from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { ThreadAdmission } from '#kernel/thread-admission.ts'
import { companyContract } from '#test/support/company-registry.ts'
import { threadsDir } from '#test/support/threads.ts'
import { type ContractRunner, type ContractRunnerOptions, createContractRunner } from './contract-runner.ts'
import type { TaskPayload } from './contract-worker.ts'

const script = path.join(threadsDir, 'contract-worker.mjs')
let runner: ContractRunner

afterEach(() => runner.close())

const start = (options: Partial<ContractRunnerOptions> = {}): ContractRunner => {
  runner = createContractRunner({ script, ...options })
  return runner
}

const toPayload = (content: unknown): TaskPayload => ({
  payload_id: '',
  bytes: Buffer.from(JSON.stringify(content)),
  media_type: 'application/json',
})

/** Two branches on each level: a chain of `depth` members is validated 2^depth times. */
const slow = {
  contract_hash: 'slow',
  contract: companyContract({
    records_at: '',
    facts: [],
    record: {
      type: 'object',
      properties: { child: { anyOf: [{ allOf: [{ $ref: '#' }, false] }, { $ref: '#' }] }, end: { type: 'integer' } },
    },
  }),
}
const chain = (depth: number): unknown => (depth === 0 ? { end: 1 } : { child: chain(depth - 1) })

test('a payload that exceeds the time limit is refused and not read a second time', async () => {
  const admission = new ThreadAdmission({ threads: 1 })
  const admitted = vi.spyOn(admission, 'run')
  start({ time_limit_ms: 300, elapsed_limit_ms: 600_000, admission })
  const [read] = await runner.read(slow, [toPayload(chain(60))], 'a')
  expect(read).toMatchObject({ is_unreadable: true, violations: [{ code: 'limit_exceeded' }] })
  expect(admitted).toHaveBeenCalledTimes(1)
})

test('a payload is not refused where the machine is too busy to read it', async () => {
  start({ time_limit_ms: 600_000, elapsed_limit_ms: 50 })
  await expect(runner.read(slow, [toPayload(chain(60))], 'a')).rejects.toMatchObject({ reason: 'starved' })
})
