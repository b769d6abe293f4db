/** The outcome of a decision as a badge: a band, or hit and no hit. Colour only repeats the text. */
import { Badge, Group, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { toWords } from '../format.ts'

export type Outcome = Schemas['EvaluationOutcome']

const bandColors: Readonly<Record<string, string>> = {
  low: 'teal',
  medium: 'yellow',
  high: 'orange',
  prohibited: 'red',
}
export const bandColor = (band: string): string => bandColors[band] ?? 'indigo'

interface BandMarkProps {
  readonly band: string | null
  readonly isLarge?: boolean
}

export function BandMark({ band, isLarge = false }: BandMarkProps) {
  if (band === null) return <span className="quiet">none</span>
  return (
    <Badge variant="light" tt="none" miw="max-content" color={bandColor(band)} size={isLarge ? 'xl' : 'md'}>
      {toWords(band)}
    </Badge>
  )
}

export function HitMark({ hit, isLarge = false }: { readonly hit: boolean; readonly isLarge?: boolean }) {
  return (
    <Badge variant="light" tt="none" miw="max-content" color={hit ? 'red' : 'teal'} size={isLarge ? 'xl' : 'md'}>
      {hit ? 'hit' : 'no hit'}
    </Badge>
  )
}

interface Decided {
  readonly band: string | null
  readonly hit: boolean | null
}

export function ResultMark({ of, isLarge = false }: { readonly of: Decided; readonly isLarge?: boolean }) {
  return of.hit === null ? <BandMark band={of.band} isLarge={isLarge} /> : <HitMark hit={of.hit} isLarge={isLarge} />
}

/** The result of a matrix or rule as text. */
export const formatResult = ({ band, hit }: Decided): string =>
  hit === null ? (band ?? 'none') : hit ? 'hit' : 'no hit'

export function Actions({ of }: { readonly of: readonly string[] }) {
  if (of.length === 0) return <span className="quiet">none</span>
  return (
    <Group gap={4} component="ul" className="plain-list">
      {of.map((action) => (
        <li key={action}>
          <Badge variant="default" tt="none" fw={500}>
            {toWords(action)}
          </Badge>
        </li>
      ))}
    </Group>
  )
}

/** The result before and after. */
export function FromTo({ from, to }: { readonly from: Decided; readonly to: Decided | null }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <ResultMark of={from} />
      <Text span aria-hidden="true">
        →
      </Text>
      <span className="sr-only">becomes</span>
      {to === null ? <Badge color="red">no decision possible</Badge> : <ResultMark of={to} />}
    </Group>
  )
}
