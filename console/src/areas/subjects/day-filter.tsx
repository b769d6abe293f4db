/** A filter by a day of the calendar, kept in the page address. */
import { TextInput } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { UnknownFilter, useSetFilter } from '#console/ui/filters.tsx'

/** As the API takes it: a year that is being typed, such as 0020, is none yet. */
const DAY = /^[1-9]\d{3}-\d{2}-\d{2}$/

function isDay(text: string): boolean {
  const time_ms = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time_ms) && new Date(time_ms).toISOString().startsWith(text)
}

/** The day that the address names, or its text where that is no day. */
export function useDay(name: string): { readonly value?: string; readonly unknown?: string } {
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>
  const given = String(search[name] ?? '')
  return given === '' ? {} : isDay(given) ? { value: given } : { unknown: given }
}

interface DayFilterProps {
  readonly name: string
  readonly label: string
}

/** A date field reports every digit of a year: what is typed stays in the field until it is a day. */
export function DayFilter({ name, label }: DayFilterProps) {
  const set = useSetFilter()
  const { value } = useDay(name)
  const [typed, setTyped] = useState({ after: value, text: value ?? '' })
  if (typed.after !== value) setTyped({ after: value, text: value ?? '' })
  return (
    <TextInput
      size="xs"
      w={150}
      type="date"
      label={label}
      max={new Date().toISOString().slice(0, 10)}
      value={typed.text}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped({ after: value, text })
        if (text === '' || isDay(text)) set(name, text || null)
      }}
    />
  )
}

export function UnknownDay({ name }: Pick<DayFilterProps, 'name'>) {
  const { unknown } = useDay(name)
  return unknown === undefined ? null : <UnknownFilter name={name} word="day" given={unknown} />
}
