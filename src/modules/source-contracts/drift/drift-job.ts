/**
 * Collects statistics of the payloads that arrived since the last run, closes windows of 1,000 payloads or a day, and compares each
 * with the baseline of its version. It runs beside admission, so that admission does not wait for it.
 */
import { findDrift, isConclusive } from '#contract/drift-findings.ts'
import { getNamePolicy } from '#contract/member-tree.ts'
import { hideSteps } from '#contract/places.ts'
import type { SketchSummary } from '#contract/sketch.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound } from '#kernel/problem.ts'
import { closed } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { raiseContractAlert } from '#modules/alerts/index.ts'
import { datasetStore } from '#modules/definitions/index.ts'
import { CONTRACT_FAMILY, type LoadedContract, loadContractVersion } from '../bind-contract.ts'
import { contractThread, failContractThread } from '../contract-thread.ts'
import { openPayload } from '../payloads.ts'
import { findStoredPayloads } from '../queries.ts'
import {
  closeWindow,
  findBaseline,
  findLastWindow,
  findOpenWindow,
  insertDriftFindings,
  insertWindow,
  listActiveVersions,
  listAdmissionsAfter,
  updateWindow,
  type WindowRow,
} from './queries.ts'
import { decryptSketch, encryptSketch } from './windows.ts'

export const CONTRACT_DRIFT = 'contract-drift'

const DAY_MS = 86_400_000
/** Versions without a payload for this long are not looked at. */
const LOOK_BACK_MS = 2 * DAY_MS
const ZERO_ID = '00000000-0000-0000-0000-000000000000'

export interface DriftSizes {
  readonly window_payloads: number
  readonly batch_payloads: number
}
const defaultSizes: DriftSizes = { window_payloads: 1000, batch_payloads: 50 }
/** What is left waits for the next run. */
const MAX_BATCHES = 200

type DriftContext = JobContext<object, unknown, Capabilities<'caches' | 'threads' | 'encryption'>>
type ActiveVersion = Awaited<ReturnType<typeof listActiveVersions>>[number]

/** Ids begin with their time. */
function getFirstIdAt(at_ms: number): string {
  const hex = Math.max(0, Math.floor(at_ms)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

export const createDriftJob = (sizes: DriftSizes = defaultSizes) =>
  defineJob({
    kind: CONTRACT_DRIFT,
    every_s: 600,
    summary: 'Collects statistics of payloads and reports how they drift from the baseline of their contract.',
    payload: closed({}),
    resumes: 'restart',
    uses: ['caches', 'threads', 'encryption'],
    run: async (context) => {
      const versions = await context.read((tx) => listActiveVersions(tx, getFirstIdAt(Date.now() - LOOK_BACK_MS)))
      let payloads = 0
      let findings = 0
      for (const version of versions) {
        for (let batch = 0; batch < MAX_BATCHES; batch++) {
          context.signal.throwIfAborted()
          const done = await collectBatch(context, version, sizes)
          payloads += done.payloads
          findings += done.findings
          if (done.is_last) break
        }
      }
      await context.finish(async () => ({ versions: versions.length, payloads, findings }))
      return null
    },
  })
export const driftJob = createDriftJob()

interface BatchSource {
  readonly contract: LoadedContract
  readonly window: WindowRow | undefined
  readonly earlier: SketchSummary | null
  /** Fewer admissions than this were found: there are no more. */
  readonly requested: number
  readonly admissions: readonly { readonly admission_id: string; readonly payload_id: string }[]
  readonly payloads: readonly { payload_id: string; media_type: string; bytes: Uint8Array }[]
}

async function collectBatch(context: DriftContext, version: ActiveVersion, sizes: DriftSizes) {
  const source = await context.read((tx) => readBatch(context.kernel, tx, version, sizes))
  const { admissions, contract } = source
  const sketch =
    admissions.length === 0
      ? source.earlier
      : await context.kernel.threads
          .get(contractThread)
          .sketch(contract, source.payloads, source.earlier, context.tenant_id)
          .catch(failContractThread)
  if (sketch === null) return { payloads: 0, findings: 0, is_last: true }
  let findings = 0
  await context.step(async (tx) => {
    const stored = await storeWindow(context.kernel, tx, { ...source, sketch, version })
    const is_over = sketch.payloads >= sizes.window_payloads || Date.now() - Date.parse(stored.opened_at) >= DAY_MS
    if (is_over) findings = await finishWindow(context.kernel, tx, { ...stored, version, contract, sketch })
    return findings > 0 ? { audit: { contract_key: version.contract_key, drift_findings: findings } } : {}
  })
  return { payloads: admissions.length, findings, is_last: admissions.length < source.requested }
}

async function readBatch(
  kernel: Capabilities<'caches' | 'encryption'>,
  tx: Tx,
  { contract_key, contract_version, contract_origin }: ActiveVersion,
  { window_payloads, batch_payloads }: DriftSizes,
): Promise<BatchSource> {
  const dataset = assertFound(await datasetStore.findDataset(tx, contract_key, CONTRACT_FAMILY, contract_origin))
  const contract = await loadContractVersion(kernel, tx, dataset, contract_version)
  const window = await findOpenWindow(tx, contract_key, contract_version)
  const last = window ?? (await findLastWindow(tx, contract_key, contract_version))
  const requested = Math.max(1, Math.min(batch_payloads, window_payloads - (window?.payload_count ?? 0)))
  const after = last?.last_admission_id ?? ZERO_ID
  const admissions = await listAdmissionsAfter(tx, { contract_key, contract_version, after }, requested)
  const payloads = []
  for (const row of await findStoredPayloads(
    tx,
    admissions.map(({ payload_id }) => payload_id),
  )) {
    const payload = await openPayload(kernel, tx, row)
    if (payload) payloads.push(payload)
  }
  const earlier = window ? await decryptSketch(kernel, tx, window) : null
  return { contract, window, earlier, requested, admissions, payloads }
}

async function storeWindow(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  { window, admissions, sketch, version }: BatchSource & { sketch: SketchSummary; version: ActiveVersion },
): Promise<{ readonly window_id: string; readonly opened_at: string }> {
  const window_id = window?.window_id ?? uuidv7()
  const opened_at = window?.opened_at ?? new Date().toISOString()
  const last_admission_id = admissions.at(-1)?.admission_id ?? window?.last_admission_id
  if (last_admission_id === undefined) return { window_id, opened_at }
  const { contract_key, contract_version } = version
  const counts = { payload_count: Math.max(1, sketch.payloads), record_count: sketch.records, last_admission_id }
  const encrypted = await encryptSketch(kernel, tx, window_id, sketch)
  if (window) await updateWindow(tx, { window_id, sketch: encrypted, ...counts })
  else await insertWindow(tx, { window_id, contract_key, contract_version, sketch: encrypted, opened_at, ...counts })
  return { window_id, opened_at }
}

/** The first window that says enough is the baseline; later ones are compared with it. Returns the number of new findings. */
async function finishWindow(
  kernel: Capabilities<'caches' | 'encryption'>,
  tx: Tx,
  given: { window_id: string; version: ActiveVersion; contract: LoadedContract; sketch: SketchSummary },
): Promise<number> {
  const { window_id, version, contract, sketch } = given
  const { contract_key, contract_version } = version
  const baseline = await findBaseline(tx, contract_key, contract_version)
  await closeWindow(tx, window_id, baseline === undefined && isConclusive(sketch))
  if (!baseline) return 0
  const ignores_undeclared = contract.contract.unknown_members === 'drop'
  const findings = findDrift(await decryptSketch(kernel, tx, baseline), sketch, { ignores_undeclared })
  const policy = getNamePolicy(contract.contract)
  const shown = findings.map((finding) => ({ ...finding, pointer: hideSteps(finding.pointer, policy) }))
  const stored = await insertDriftFindings(tx, { window_id, contract_key, contract_version }, shown)
  if (shown.length > 0)
    await raiseContractAlert(kernel, tx, {
      on: 'contract_drift',
      contract_key,
      contract_version,
      findings: shown.map(({ kind, pointer }) => `${kind} ${pointer}`.trim()),
      reference: `drift-window:${window_id}`,
      // Statistics of payloads name none of them.
      restriction_id: null,
    })
  return stored
}
