/** Chooses a person of the tenant by name: for access, assignment, designation, and the work of somebody who has left. */
import { Select } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import type { Role } from './role-picker.tsx'

type User = Schemas['User']

const PAGE_SIZE = 200
const MAX_PAGES = 5

/** Everybody by name; names are compared here, because the server lists by time. */
const everybodyQuery = queryOptions({
  queryKey: ['users', 'people'],
  queryFn: async ({ signal }) => {
    const people: User[] = []
    let cursor: string | null = null
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = { limit: PAGE_SIZE, ...(cursor !== null && { cursor }) }
      const answer: { items: User[]; next_cursor: string | null } = await probity.GET('/api/users', {
        params: { query },
        signal,
      })
      people.push(...answer.items)
      cursor = answer.next_cursor
      if (cursor === null) break
    }
    return people.sort((one, other) => one.name.localeCompare(other.name))
  },
  staleTime: 60_000,
})

/** People who can sign in. */
export const peopleQuery = {
  ...everybodyQuery,
  select: (people: User[]) => people.filter(({ state }) => state !== 'inactive'),
}

interface PersonSelectProps {
  readonly label: string
  readonly description?: string
  readonly user_id: string | null
  readonly onChange: (user_id: string | null) => void
  /** Only people with one of these roles. People of another issuer have roles that are not known here, and are offered. */
  readonly roles?: readonly Role[]
  /** Not offered, such as the user. */
  readonly except?: readonly string[]
  readonly isFirst?: boolean
  /** People who were deactivated are offered too. */
  readonly hasInactive?: boolean
}

const isAway = ({ away_from, away_until }: User, now: number): boolean =>
  away_from !== null && Date.parse(away_from) <= now && (away_until === null || Date.parse(away_until) > now)

const describeAbsence = (user: User): string =>
  user.state === 'inactive' ? ' (deactivated)' : isAway(user, Date.now()) ? ' (away)' : ''

/** Two people may have the same name. */
const toChoice = (user: User) => ({
  value: user.user_id,
  label: `${user.name} · ${user.email ?? user.subject}${describeAbsence(user)}`,
})

export function PersonSelect(props: PersonSelectProps) {
  const { label, description, user_id, onChange, roles, except = [], isFirst = false, hasInactive = false } = props
  const { data } = useQuery(everybodyQuery)
  const offered = (data ?? [])
    .filter((user) => !except.includes(user.user_id) && (hasInactive || user.state !== 'inactive'))
    .filter((user) => !roles || user.origin === 'external' || roles.some((role) => user.roles.includes(role)))
  return (
    <Select
      label={label}
      {...(description !== undefined && { description })}
      placeholder="Name or email"
      required
      searchable
      {...(isFirst && { 'data-autofocus': true })}
      nothingFoundMessage="Nobody has this name"
      data={offered.map(toChoice)}
      value={user_id}
      onChange={onChange}
    />
  )
}
