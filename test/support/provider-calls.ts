/** What the suites of provider calls share: a provider in force with its credential, calls of it, and waiting for their ends. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { CountingProvider } from './counting-provider.ts'
import type { ExampleTenant } from './example-tenant.ts'
import { type JobTestApp, waitUntil } from './job-test-app.ts'

export class ProviderCalls {
  readonly #w: JobTestApp
  readonly #provider: CountingProvider
  readonly #t: ExampleTenant
  #isRunning = false
  /** The provider that was connected last. */
  provider_key = ''

  constructor(w: JobTestApp, provider: CountingProvider, t: ExampleTenant) {
    this.#w = w
    this.#provider = provider
    this.#t = t
  }

  /** Puts a provider in force that asks the counting one; returns the id of its credential. */
  async connect(capability: object = {}, change: object = {}, members: object = { api_key: 'k-1' }): Promise<string> {
    const provider_key = `registry-${uuidv7().slice(-12)}`
    const definition = this.#provider.createManifest(capability, change)
    await this.#t.make('POST /providers', { body: { provider_key, title: 'Registry', definition } })
    await this.#t.make(`POST /providers/${provider_key}/versions/draft/publish`, { body: {} })
    await this.#t.make(`POST /providers/${provider_key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
    this.provider_key = provider_key
    const body = { provider_key, label: 'Main' }
    const { credential_id } = await this.#t.make('POST /provider-credentials', { body })
    const versions = `POST /provider-credentials/${credential_id}/versions`
    await this.#t.make(versions, { body: { members } })
    await this.#t.make(`${versions}/1/activations`, { body: { reason: 'First' } })
    return credential_id
  }

  async start(number = '00000006', change: object = {}): Promise<{ job_id: string; call_id: string }> {
    const body = { capability: 'company.lookup', input: { number }, ...change }
    const { job_id, resource } = await this.#t.make(`POST /providers/${this.provider_key}/calls`, { body })
    return { job_id, call_id: (resource as string).split('/').at(-1) as string }
  }

  /** Runs the declared test of the provider. */
  test(): Promise<{ call_id: string; outcome: string }> {
    return this.#t.make(`POST /providers/${this.provider_key}/test`, { body: {} })
  }

  ended(job_id: string) {
    return this.#w.ended(this.#t.tenant_id, job_id)
  }

  getCall(call_id: string) {
    return this.#t.make(`GET /providers/calls/${call_id}`)
  }

  getStatus() {
    return this.#t.make(`GET /providers/${this.provider_key}/status`)
  }

  /** Starts a call and runs its job to the end. */
  async run(number?: string, change?: object) {
    const started = await this.start(number, change)
    if (!this.#isRunning) this.#w.startRunner(2)
    this.#isRunning = true
    const job = await this.ended(started.job_id)
    return { ...started, job, call: await this.getCall(started.call_id) }
  }

  waiting(job_id: string) {
    return waitUntil('the job is deferred', async () => {
      const job = await this.#w.look(this.#t.tenant_id, job_id)
      return job.deferred_since !== null && job
    })
  }

  /** Ends every wait of a deferred job until it has ended. */
  endWaits(job_id: string) {
    return waitUntil('the job has ended', async () => {
      const job = await this.#w.look(this.#t.tenant_id, job_id)
      if (job.finished_at !== null) return job
      await this.#w.aborted(this.#t.tenant_id, job_id)
      return false
    })
  }
}
