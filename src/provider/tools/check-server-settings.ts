/** Everything wrong with the settings of a tool server, with the place of each fault. */
import { checkAuthentication } from '../check-manifest.ts'
import { checkLiteralPath } from '../check-request.ts'
import { checkUrl } from '../check-url.ts'
import { type Finding, FindingList } from '../findings.ts'
import type { Auth, HttpManifest } from '../manifest.ts'

export interface ServerSettings {
  readonly url: string
  readonly auth: Auth
  readonly credential?: HttpManifest['credential'] | null
}

export function checkServerSettings({ url, auth, credential }: ServerSettings): Finding[] {
  const findings = new FindingList()
  const hosts = [url, (auth as { token_url?: unknown }).token_url].flatMap((each) =>
    typeof each === 'string' && URL.canParse(each) ? [new URL(each).hostname] : [],
  )
  checkUrl(url, { manifest: { hosts }, pointer: '/url', findings })
  checkLiteralPath(url, '/url', findings)
  if (/[{}]/.test(url)) findings.error('template_invalid', '/url', 'The URL of a server has no placeholders.')
  checkAuthentication({ hosts, auth, ...(credential && { credential }) }, findings)
  return findings.list
}
