/** One source contract: the version in force, and tabs for the contract, its versions, violations, lineage and drift. */
import { Group, Stack } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { contractKind, definitionQuery } from '#console/ui/decision/definition-kind.ts'
import { Findings } from '#console/ui/decision/findings.tsx'
import { DefinitionFrame, useVersion } from '#console/ui/definition/definition-frame.tsx'
import { InForce } from '#console/ui/definition/in-force.tsx'
import { VersionsTab } from '#console/ui/definition/versions-tab.tsx'
import { useFilter } from '#console/ui/filters.tsx'
import { formatCount } from '#console/ui/format.ts'
import { useOrigin } from '#console/ui/origin.ts'
import { PartTabs } from '#console/ui/part-tabs.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { activityQuery } from './contract-queries.ts'
import { ContractTab } from './contract-tab.tsx'
import { DriftTab } from './drift-tab.tsx'
import { LineageTab } from './lineage-tab.tsx'
import { ResultBadge } from './result-badge.tsx'
import { ViolationsTab } from './violations-tab.tsx'

const tabs = ['reading', 'versions', 'violations', 'lineage', 'drift'] as const
const names = {
  reading: 'Contract',
  versions: 'Versions',
  violations: 'Violations',
  lineage: 'Lineage',
  drift: 'Drift',
} as const

export default function ContractPage() {
  const { key: contract_key = '' } = useParams({ strict: false }) as { key?: string }
  const { data: of } = useSuspenseQuery(definitionQuery(contractKind, contract_key, useOrigin()))
  const may = usePermission()
  const tab = useFilter('tab', tabs) ?? 'reading'
  const version = useVersion(of)
  const hasActive = of.active !== null
  const panels: Readonly<Record<(typeof tabs)[number], ReactNode>> = {
    reading: <ContractTab contract_key={contract_key} of={of} version={version} />,
    versions: <VersionsTab kind={contractKind} definition_key={contract_key} of={of} />,
    violations: <ViolationsTab contract_key={contract_key} />,
    lineage: <LineageTab contract_key={contract_key} hasActive={hasActive} />,
    drift: <DriftTab contract_key={contract_key} />,
  }
  const offered = tabs.filter(
    (one) =>
      one === 'reading' ||
      one === 'versions' ||
      (one === 'lineage' ? may('getSourceContractLineage') : may('listSourceContractDrift')),
  )
  return (
    <DefinitionFrame kind={contractKind} definition_key={contract_key} of={of}>
      <Stack gap="md">
        <Findings findings={of.attention} title="Findings for the version in force" />
        <InForce kind={contractKind} definition_key={contract_key} of={of} />
        {may('listSourceContractActivity') && <Arrivals contract_key={contract_key} />}
      </Stack>
      <PartTabs label={`Parts of ${of.title}`} offered={offered} names={names} open={tab} panels={panels} />
    </DefinitionFrame>
  )
}

/** What arrived last, and what waits. */
function Arrivals({ contract_key }: { readonly contract_key: string }) {
  const { data } = useQuery(activityQuery)
  const of = data?.items.find((one) => one.contract_key === contract_key)
  if (!of || of.last_payload_at === null) return null
  return (
    <Section title="Payloads">
      <Facts
        of={[
          [
            'Last payload',
            <Group key="last" gap="xs">
              <RelativeTime at={of.last_payload_at} />
              {of.last_result !== null && <ResultBadge result={of.last_result} />}
            </Group>,
          ],
          [
            'In quarantine',
            of.open_quarantine === 0 ? (
              'none'
            ) : (
              <SearchLink key="open" to="/source-contracts/quarantine" search={{ contract: contract_key }} inherit>
                {formatCount(of.open_quarantine, 'open payload')}
              </SearchLink>
            ),
          ],
          [
            'Drift, last 90 days',
            of.drift_findings === 0 ? (
              'none'
            ) : (
              <SearchLink key="drift" to={`/source-contracts/${contract_key}`} search={{ tab: 'drift' }} inherit>
                {formatCount(of.drift_findings, 'finding')}
              </SearchLink>
            ),
          ],
        ]}
      />
    </Section>
  )
}
