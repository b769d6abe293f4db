/** Creates a source contract: a draft proposed from sample payloads, from an ODCS document, or empty. */
import './source-contracts.css'
import { Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { useFilter, useSetFilter } from '#console/ui/filters.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { Section } from '#console/ui/section.tsx'
import { OdcsForm } from './odcs-form.tsx'
import { type Proposal, ProposalSummary } from './proposal-summary.tsx'
import { SamplesForm } from './samples-form.tsx'

const ways = ['samples', 'odcs', 'empty'] as const
const wayLabels = { samples: 'Samples', odcs: 'ODCS document', empty: 'Empty' } as const

const emptyProposal: Proposal = {
  definition: { record: { type: 'object', properties: {} }, records_at: '', facts: [], examples: [] },
  summary: [],
  details: [],
  findings: [],
}

export default function NewContractPage() {
  const way = useFilter('from', ways) ?? 'samples'
  const set = useSetFilter()
  const [proposal, setProposal] = useState<Proposal | null>(null)
  const shown = way === 'empty' ? emptyProposal : proposal
  return (
    <Page
      title="New source contract"
      about="A contract begins as a draft. It has no effect until it is published and put in force."
      trail={
        <PageLink to="/source-contracts" inherit>
          Source contracts
        </PageLink>
      }
      width="text"
    >
      <Stack gap="md">
        <SegmentedControl
          aria-label="Start from"
          fullWidth
          maw={480}
          value={way}
          onChange={(chosen) => {
            setProposal(null)
            set('from', chosen)
          }}
          data={ways.map((value) => ({ value, label: wayLabels[value] }))}
        />
        {way === 'samples' && <SamplesForm onProposed={setProposal} />}
        {way === 'odcs' && <OdcsForm onProposed={setProposal} />}
        {shown && way !== 'empty' && <ProposalSummary of={shown} />}
        {shown && <CreateContract proposal={shown} />}
      </Stack>
    </Page>
  )
}

/** `Company registry (UK)` → `company-registry-uk`. */
const toKey = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 100)

function CreateContract({ proposal }: { readonly proposal: Proposal }) {
  const navigate = useNavigate()
  const [form, setForm] = useState({ title: '', key: '' })
  const contract_key = form.key || toKey(form.title)
  const create = useApiMutation(
    () =>
      probity.POST('/api/source-contracts', {
        body: { contract_key, title: form.title, definition: { ...proposal.definition } },
      }),
    {
      invalidates: ['definitions'],
      onDone: (made) => navigate({ to: `/source-contracts/${made.contract_key}/draft` }),
    },
  )
  const faults = faultsByField(create.problem)
  return (
    <Section title="Create the contract">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          create.run(undefined)
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Title"
            required
            maxLength={200}
            placeholder="Company registry extract"
            value={form.title}
            error={faults['title']}
            onChange={(event) => setForm({ ...form, title: event.currentTarget.value })}
          />
          <TextInput
            label="Key"
            description="Providers name the contract by it. Lower-case letters, digits and hyphens. With the key of a shared contract, yours replaces it once it is in force."
            required
            maxLength={100}
            classNames={{ input: 'mono' }}
            value={contract_key}
            error={faults['contract_key']}
            onChange={(event) => setForm({ ...form, key: event.currentTarget.value })}
          />
          <ProblemNote problem={create.problem} />
          <Group>
            <Button type="submit" loading={create.isRunning}>
              Create and open the draft
            </Button>
            <Text size="xs" c="dimmed">
              You can change everything in the draft.
            </Text>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
