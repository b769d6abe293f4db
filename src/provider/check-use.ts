/** Checks what manifests of every kind that is called have in common: costs, retries, the test and fixtures. */
import { checkInput } from './check-input.ts'
import { appendStep, type FindingList } from './findings.ts'
import type { HttpCapability, HttpManifest } from './manifest.ts'
import { isEgressFault } from './recorded-answers.ts'

type UsedCapability = Pick<HttpCapability, 'input' | 'cost' | 'retry'>
type UsedManifest = Pick<HttpManifest, 'budget' | 'test' | 'fixtures'> & {
  readonly capabilities: Readonly<Record<string, UsedCapability>>
}

export function checkUse(manifest: UsedManifest, findings: FindingList): void {
  const { capabilities } = manifest
  if (Object.keys(capabilities).length === 0) {
    findings.error('capabilities_missing', '/capabilities', 'A provider has at least one capability.')
  }
  for (const [name, capability] of Object.entries(capabilities)) {
    checkRetry(capability, appendStep('/capabilities', name), findings)
  }
  checkCurrencies(manifest, findings)
  checkTest(manifest, findings)
  checkFixtures(manifest, findings)
}

function checkRetry({ retry }: UsedCapability, pointer: string, findings: FindingList): void {
  if (retry?.base_ms !== undefined && retry.max_ms !== undefined && retry.base_ms > retry.max_ms) {
    findings.error('retry_invalid', `${pointer}/retry/base_ms`, 'The first pause is longer than the longest.')
  }
}

/** Costs are added up, also against the budget: a manifest names one currency. */
export function listCurrencies({ budget, capabilities }: Pick<UsedManifest, 'budget' | 'capabilities'>): string[] {
  const costs = Object.values(capabilities).flatMap(({ cost }) => cost?.currency ?? [])
  return [...new Set([budget?.spend_per_month?.currency ?? [], costs].flat())]
}

function checkCurrencies(manifest: UsedManifest, findings: FindingList): void {
  const [currency, ...others] = listCurrencies(manifest)
  if (others.length === 0) return
  const named = manifest.budget?.spend_per_month ? 'The budget of the month' : 'The first cost'
  for (const [name, { cost }] of Object.entries(manifest.capabilities)) {
    if (!cost || cost.currency === currency) continue
    findings.error(
      'currency_differs',
      `${appendStep('/capabilities', name)}/cost/currency`,
      `${named} is in ${currency}: state this cost in ${currency} too, since costs are added up.`,
    )
  }
}

function checkTest({ test, capabilities }: UsedManifest, findings: FindingList): void {
  if (!test) return
  const capability = getCapability(capabilities, test.capability)
  if (!capability) {
    findings.error('capability_unknown', '/test/capability', 'The provider has no capability of this name.')
    return
  }
  for (const { pointer, message } of checkInput(capability.input, test.input)) {
    findings.error('input_invalid', `/test/input${pointer}`, `This ${message}.`)
  }
}

function checkFixtures({ fixtures = [], capabilities }: UsedManifest, findings: FindingList): void {
  fixtures.forEach(({ capability, when = {}, fault, status, body }, index) => {
    const pointer = `/fixtures/${index}`
    const found = capability === undefined ? undefined : getCapability(capabilities, capability)
    if (capability !== undefined && !found) {
      findings.error('capability_unknown', `${pointer}/capability`, 'The provider has no capability of this name.')
    }
    const inputs = found ? [found] : Object.values(capabilities)
    for (const name of Object.keys(when)) {
      if (!inputs.some(({ input }) => Object.hasOwn(input.properties, name))) {
        findings.error('input_unknown', appendStep(`${pointer}/when`, name), 'No capability has an input of this name.')
      }
    }
    if (fault !== undefined && !isEgressFault(fault)) {
      findings.error('fault_unknown', `${pointer}/fault`, 'This is not a word that a request can fail with.')
    }
    if (fault !== undefined && (status !== undefined || body !== undefined)) {
      findings.error('fixture_ambiguous', pointer, 'A fixture is a response or a fault, not both.')
    }
  })
}

const getCapability = (capabilities: UsedManifest['capabilities'], name: string): UsedCapability | undefined =>
  Object.hasOwn(capabilities, name) ? capabilities[name] : undefined
