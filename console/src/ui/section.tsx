/** A titled section of a page, and a list of labelled values. */
import { Card, Group, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

interface SectionProps {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function Section({ title, actions, children }: SectionProps) {
  const id = useId()
  return (
    <Card component="section" aria-labelledby={id} withBorder padding="md">
      <Group justify="space-between" gap="xs" mb="sm">
        <Title order={2} size="h5" id={id}>
          {title}
        </Title>
        {actions}
      </Group>
      {children}
    </Card>
  )
}

export type Fact = readonly [name: string, value: ReactNode]

/** Values that are null or false are omitted. */
export function Facts({ of }: { readonly of: readonly (Fact | false | null)[] }) {
  return (
    <dl className="facts">
      {of
        .filter((fact): fact is Fact => Boolean(fact) && fact !== null && (fact as Fact)[1] !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
