/** Texts about one version of a definition: whether it is in force, and what it says in sentences. */
import { Stack, Text } from '@mantine/core'
import type { VersionedDefinition } from '../decision/definition-kind.ts'
import { Section } from '../section.tsx'

interface NotInForceNoteProps {
  readonly of: Pick<VersionedDefinition, 'active'>
  readonly version: number | 'draft'
}

export function NotInForceNote({ of, version }: NotInForceNoteProps) {
  if (version === of.active?.version) return null
  return (
    <Text size="sm" role="status">
      {version === 'draft' ? 'The draft' : `Version ${version}`} is not in force.
    </Text>
  )
}

export function Sentences({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null
  return (
    <Section title={title}>
      <Stack gap={4} component="ol" className="plain-list">
        {lines.map((line, place) => (
          <Text key={place} size="sm" component="li">
            {line}
          </Text>
        ))}
      </Stack>
    </Section>
  )
}
