/**
 * One matrix or rule: the version in force and its findings, and tabs for definition, versions, golden cases and
 * analyses.
 */
import { Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { type DecisionKind, definitionQuery, textQuery, toOperationId } from '../decision/definition-kind.ts'
import { parseDefinition } from '../decision/definition-model.ts'
import { Findings } from '../decision/findings.tsx'
import { EmptyState } from '../empty-state.tsx'
import { useFilter } from '../filters.tsx'
import { useOrigin } from '../origin.ts'
import { PartTabs } from '../part-tabs.tsx'
import { SearchButton } from '../search-link.tsx'
import { BacktestsTab } from './backtests-tab.tsx'
import { CasesTab } from './cases-tab.tsx'
import { DefinitionFrame, useVersion } from './definition-frame.tsx'
import type { DefinitionParts } from './definition-parts.ts'
import { FactorsView } from './factors-view.tsx'
import { InForce } from './in-force.tsx'
import { PerformanceTab } from './performance-tab.tsx'
import { SimulateTab } from './simulate-tab.tsx'
import { UsedByPlaybooks } from './used-by-playbooks.tsx'
import { NotInForceNote, Sentences } from './version-text.tsx'
import { VersionsTab } from './versions-tab.tsx'

const tabs = ['reading', 'versions', 'cases', 'simulate', 'backtests', 'performance'] as const
const names = {
  reading: 'Definition',
  versions: 'Versions',
  cases: 'Golden cases',
  simulate: 'Simulate',
  backtests: 'Backtests',
  performance: 'Performance',
} as const

export function DefinitionPage({ kind }: { readonly kind: DecisionKind }) {
  const { key: definition_key = '' } = useParams({ strict: false }) as { key?: string }
  const { data: of } = useSuspenseQuery(definitionQuery(kind, definition_key, useOrigin()))
  const may = usePermission()
  const tab = useFilter('tab', tabs) ?? 'reading'
  const version = useVersion(of)
  const parts = { kind, definition_key, of, version }
  const panels: Readonly<Record<(typeof tabs)[number], ReactNode>> = {
    reading: <DefinitionTab {...parts} />,
    versions: <VersionsTab {...parts} />,
    cases: <CasesTab {...parts} />,
    simulate: <SimulateTab {...parts} />,
    backtests: <BacktestsTab {...parts} />,
    performance: <PerformanceTab rule_key={definition_key} />,
  }
  const offered = tabs.filter(
    (one) =>
      (one !== 'simulate' || may(toOperationId(kind, 'simulate', 'Version'))) &&
      (one !== 'backtests' || may(`list${kind.noun}Backtests`)) &&
      (one !== 'performance' || (kind.family === 'rule' && may('getRulePerformance'))),
  )
  return (
    <DefinitionFrame
      kind={kind}
      definition_key={definition_key}
      of={of}
      actions={
        of.active !== null &&
        may('createEvaluation') && (
          <SearchButton to="/evaluations/new" search={{ [kind.family]: definition_key }} variant="default">
            Evaluate
          </SearchButton>
        )
      }
    >
      <Stack gap="md">
        <Findings findings={of.attention} title="Findings for the version in force" />
        <InForce {...parts} />
      </Stack>
      <PartTabs label={`Parts of ${of.title}`} offered={offered} names={names} open={tab} panels={panels} />
    </DefinitionFrame>
  )
}

function DefinitionTab({ kind, definition_key, of, version }: DefinitionParts) {
  if (version === null)
    return (
      <EmptyState
        title="No version or draft yet"
        about={`The definition of this ${kind.word} is written in a draft, which is published as a version.`}
      />
    )
  return <DefinitionText kind={kind} definition_key={definition_key} of={of} version={version} />
}

function DefinitionText({
  kind,
  definition_key,
  of,
  version,
}: DefinitionParts & { readonly version: number | 'draft' }) {
  const { data: text } = useSuspenseQuery(textQuery(kind, definition_key, version, of.origin))
  return (
    <Stack gap="md">
      <NotInForceNote of={of} version={version} />
      <FactorsView definition={parseDefinition(text.definition)} />
      <Sentences title="Definition in sentences" lines={text.reading} />
      <UsedByPlaybooks family={kind.family} definition_key={definition_key} />
    </Stack>
  )
}
