/** A call whose request a plugin makes and whose response it reads. Sending, limits and evidence are those of every HTTP provider. */
import { Problem } from '#kernel/problem.ts'
import { storePayload } from '#modules/source-contracts/index.ts'
import { type ReceivedAnswer, UNCHECKED } from './answers.ts'
import type { PluginOperation } from './capability.ts'
import type { CallRun, LoadedCall } from './load-call.ts'
import {
  bindProviderPlugin,
  isAmbiguousJson,
  makePluginRequest,
  type PluginRun,
  parsePluginResponse,
} from './plugin-provider.ts'
import type { AttemptRow } from './queries.ts'
import { type LiveResult, type LiveSend, sendLive } from './send-live.ts'

type PluginCall = LoadedCall & { readonly capability: PluginOperation }

/** `problem`: the plugin failed on the response. Where nothing was sent, the problem is thrown. */
export type PluginResult = LiveResult & { readonly problem?: Problem }

export async function sendWithPlugin(
  run: CallRun,
  loaded: PluginCall,
  attempt: AttemptRow,
  send: LiveSend,
): Promise<PluginResult> {
  const plugin = await bindProviderPlugin(run, loaded.capability, loaded.call.call_id)
  const rendered = await makePluginRequest(plugin, send.input)
  const sent = await sendLive(run, loaded, attempt, { ...send, rendered })
  return 'answer' in sent ? readAnswer(plugin, loaded, attempt, sent.answer) : sent
}

/** The same for a response of the manifest, in a rehearsal. */
export async function readFixture(
  run: CallRun,
  loaded: PluginCall,
  attempt: AttemptRow,
  answer: ReceivedAnswer,
): Promise<PluginResult> {
  return readAnswer(await bindProviderPlugin(run, loaded.capability, loaded.call.call_id), loaded, attempt, answer)
}

/** What the provider sent is stored before the plugin sees it, so that it is kept whatever the plugin makes of it. */
async function readAnswer(
  plugin: PluginRun,
  { call }: PluginCall,
  attempt: AttemptRow,
  answer: ReceivedAnswer,
): Promise<PluginResult> {
  // A response with the credential in it is quarantined as it is: no plugin gets to see it. So is JSON that has no one reading.
  if (answer.result === 'not_found' || answer.repeats_credential || isAmbiguousJson(answer)) return { answer }
  const { run } = plugin
  const { kernel, scope } = run
  const { http_status, media_type, bytes, duration_ms } = answer
  const response_payload_id = await kernel.transactions.write(scope, (tx) =>
    storePayload(tx, kernel, {
      contract_key: UNCHECKED,
      subject_id: call.subject_id,
      media_type,
      bytes,
      source_kind: 'provider_response',
      source_id: attempt.token,
      received_at: new Date().toISOString(),
      restriction_id: call.restriction_id,
    }),
  )
  try {
    const response = { status: http_status ?? 200, headers: { 'content-type': media_type }, body: bytes }
    const parsed = await parsePluginResponse(plugin, response)
    const made_by = { ...parsed.made_by, response_payload_id }
    return { answer: { ...answer, media_type: 'application/json', bytes: parsed.bytes, made_by } }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'plugin_failed') throw error
    // The provider has answered: whoever may ask it once only decides what follows.
    const outcome = call.promise === 'once' && answer.source === 'provider' ? 'unknown' : 'failed'
    const failure = { outcome, fault: error.code, http_status, duration_ms, is_outage: false } as const
    return { failure, retry_after_s: null, problem: error }
  }
}
