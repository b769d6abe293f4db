/** What was proposed for a contract, before it is created. */
import './source-contracts.css'
import { Alert, Badge, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { describeInput } from '#console/ui/definition/editor/input-texts.ts'
import { formatCount } from '#console/ui/format.ts'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { Section } from '#console/ui/section.tsx'
import { parseContract } from './contract-model.ts'

export interface Proposal {
  readonly definition: Readonly<Record<string, unknown>>
  /** Sentences about the proposal. */
  readonly summary: readonly string[]
  /** What could not be taken over, or needs attention. */
  readonly details: readonly { readonly pointer: string; readonly text: string }[]
  readonly findings: readonly Schemas['Finding'][]
}

export function ProposalSummary({ of }: { readonly of: Proposal }) {
  const { facts = [], personal = [] } = parseContract(of.definition)
  const guessed = personal.filter(({ guessed: isGuess }) => isGuess)
  return (
    <Section title="Proposed draft">
      <Stack gap="sm" role="status">
        {of.summary.map((line) => (
          <Text key={line} size="sm">
            {line}
          </Text>
        ))}
        <PlainTable
          label="Proposed facts"
          empty={{
            title: 'No facts proposed',
            about: 'Add the fields that decisions need in the draft.',
          }}
          head={[{ name: 'Fact' }, { name: 'Taken from' }, { name: 'Kind', from: 'sm' }]}
        >
          {facts.map((fact) => (
            <Table.Tr key={fact.name}>
              <Table.Td>
                {fact.title ?? fact.name}{' '}
                {fact.personal && (
                  <Badge variant="light" color="grape" tt="none" miw="max-content">
                    personal
                  </Badge>
                )}
              </Table.Td>
              <Table.Td className="pointer">{fact.at}</Table.Td>
              <Table.Td visibleFrom="sm">{describeInput({ ...fact, title: fact.name })}</Table.Td>
            </Table.Tr>
          ))}
        </PlainTable>
        {guessed.length > 0 && (
          <Text size="sm">
            Probably personal data, to be confirmed in the draft:{' '}
            <span className="pointer">{guessed.map(({ at }) => at).join(', ')}</span>
          </Text>
        )}
        {of.details.length > 0 && (
          <Alert color="yellow" title={`${formatCount(of.details.length, 'part')} to look at`}>
            <ul className="plain-list">
              {of.details.map(({ pointer, text }, place) => (
                <li key={`${pointer} ${place}`}>
                  <Text size="sm">
                    <span className="pointer">{pointer || '/'}</span>: {text}
                  </Text>
                </li>
              ))}
            </ul>
          </Alert>
        )}
        {of.findings.length > 0 && (
          <Text size="sm">
            {formatCount(of.findings.length, 'finding')} to settle in the draft before it can be published.
          </Text>
        )}
      </Stack>
    </Section>
  )
}
