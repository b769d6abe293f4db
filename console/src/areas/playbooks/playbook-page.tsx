/** One playbook: the version in force with its findings and missing credentials, its content, and its versions. */
import { Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type DefinitionView, definitionQuery, playbookKind, textQuery } from '#console/ui/decision/definition-kind.ts'
import { Findings } from '#console/ui/decision/findings.tsx'
import { DefinitionFrame, useVersion } from '#console/ui/definition/definition-frame.tsx'
import { InForce } from '#console/ui/definition/in-force.tsx'
import { NotInForceNote, Sentences } from '#console/ui/definition/version-text.tsx'
import { VersionsTab } from '#console/ui/definition/versions-tab.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { useFilter } from '#console/ui/filters.tsx'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { useOrigin } from '#console/ui/origin.ts'
import { PartTabs } from '#console/ui/part-tabs.tsx'
import { PlaybookGaps } from '#console/ui/provider/playbook-gaps.tsx'
import { Section } from '#console/ui/section.tsx'
import { parsePlaybook } from './playbook-model.ts'
import { PlaybookParts } from './playbook-view.tsx'

const tabs = ['reading', 'versions'] as const
const names = { reading: 'Steps', versions: 'Versions' } as const

interface PlaybookPageParts {
  readonly playbook_key: string
  readonly of: DefinitionView
}

export default function PlaybookPage() {
  const { key: playbook_key = '' } = useParams({ strict: false }) as { key?: string }
  const { data: of } = useSuspenseQuery(definitionQuery(playbookKind, playbook_key, useOrigin()))
  const tab = useFilter('tab', tabs) ?? 'reading'
  const parts = { playbook_key, of }
  const panels: Readonly<Record<(typeof tabs)[number], ReactNode>> = {
    reading: <StepsTab {...parts} />,
    versions: <VersionsTab kind={playbookKind} definition_key={playbook_key} of={of} />,
  }
  return (
    <DefinitionFrame kind={playbookKind} definition_key={playbook_key} of={of}>
      <Stack gap="md">
        <Findings findings={of.attention} title="Findings for the version in force" />
        {of.active !== null && (
          <PlaybookGaps playbook_key={playbook_key} version={of.active.version} origin={of.origin} />
        )}
        <InForce kind={playbookKind} definition_key={playbook_key} of={of} />
      </Stack>
      <PartTabs label={`Parts of ${of.title}`} offered={tabs} names={names} open={tab} panels={panels} />
    </DefinitionFrame>
  )
}

function StepsTab({ playbook_key, of }: PlaybookPageParts) {
  const version = useVersion(of)
  if (version === null) {
    return (
      <EmptyState
        title="No version or draft yet"
        about="The steps of a playbook are written in a draft, which is published as a version."
      />
    )
  }
  return <VersionView playbook_key={playbook_key} of={of} version={version} />
}

function VersionView({ playbook_key, of, version }: PlaybookPageParts & { readonly version: number | 'draft' }) {
  const { data: text } = useSuspenseQuery(textQuery(playbookKind, playbook_key, version, of.origin))
  return (
    <Stack gap="md">
      <NotInForceNote of={of} version={version} />
      {version !== of.active?.version && (
        <PlaybookGaps playbook_key={playbook_key} version={version} origin={version === 'draft' ? 'own' : of.origin} />
      )}
      <PlaybookParts of={parsePlaybook(text.definition)} />
      <Sentences title="Playbook in sentences" lines={text.reading} />
      <Section title="Source">
        <details>
          <summary>Playbook as JSON</summary>
          <JsonBlock value={text.definition} name="Playbook as JSON" />
        </details>
      </Section>
    </Stack>
  )
}
