/** What the palette offers for a text: pages, found objects in groups, and all results; without a text, what was opened before. */
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { Area } from '#console/area.ts'
import { useToken } from '#console/session/session.ts'
import type { IconName } from '#console/ui/icons.tsx'
import { classifyError, errorTitles } from '#console/ui/problem-texts.ts'
import {
  addRecent,
  type FoundObject,
  listRecent,
  type SearchTarget,
  searchQuery,
  toFoundObject,
} from '#console/ui/search-results.ts'
import { useVisibleAreas } from './navigation.tsx'

const DEBOUNCE_MS = 150
const PER_GROUP = 4
const MAX_PAGES = 4

export interface Choice {
  readonly key: string
  readonly icon: IconName
  readonly title: string
  readonly about: string
  /** Undefined: a page. */
  readonly restriction_id?: string | null
  readonly target: SearchTarget
  onOpen?(): void
}

export interface ChoiceGroup {
  readonly title: string
  readonly choices: readonly Choice[]
}

function filterPages(areas: readonly Area[], text: string): readonly Area[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const score = ({ title, about, group }: Area): number => {
    const haystack = `${title} ${group ?? ''} ${about}`.toLowerCase()
    if (!words.every((word) => haystack.includes(word))) return 0
    return words.every((word) => title.toLowerCase().includes(word)) ? 2 : 1
  }
  return areas.filter((area) => score(area) > 0).sort((one, two) => score(two) - score(one))
}

const toPageChoice = ({ path, icon, title, about }: Area): Choice => ({
  key: `page ${path}`,
  icon,
  title,
  about,
  target: { to: path },
})

const toObjectChoice = (found: FoundObject): Choice => ({ ...found, onOpen: () => addRecent(found) })

const toGroup = (title: string, choices: readonly Choice[]): ChoiceGroup[] =>
  choices.length === 0 ? [] : [{ title, choices }]

function useFoundGroups(text: string) {
  const [typed] = useDebouncedValue(text, DEBOUNCE_MS)
  const isSignedIn = useToken() !== ''
  const wanted = isSignedIn && text !== '' ? typed : ''
  const search = useQuery(searchQuery(wanted, PER_GROUP))
  const groups = wanted === '' ? [] : (search.data?.groups ?? [])
  return {
    groups: groups.flatMap(({ kind, title, items }) =>
      toGroup(
        title,
        items.flatMap((item) => {
          const found = toFoundObject(kind, item)
          return found ? [toObjectChoice(found)] : []
        }),
      ),
    ),
    isSearching: isSignedIn && text !== '' && (typed !== text || search.isFetching),
    isTooShort: search.data?.searched_names === false,
    isSignedIn,
    error: wanted === '' ? null : search.error,
  }
}

interface Choices {
  readonly groups: readonly ChoiceGroup[]
  readonly status: string
  readonly isSearching: boolean
}

export function useChoices(input: string): Choices {
  const text = input.trim()
  const areas = useVisibleAreas()
  const found = useFoundGroups(text)
  if (text === '') {
    const recent = toGroup('Opened before', listRecent().map(toObjectChoice))
    return { groups: [...recent, ...toGroup('Pages', areas.map(toPageChoice))], status: '', isSearching: false }
  }
  const pages = toGroup('Pages', filterPages(areas, text).slice(0, MAX_PAGES).map(toPageChoice))
  const all: Choice = {
    key: 'all results',
    icon: 'search',
    title: `All results for “${text}”`,
    about: '',
    target: { to: '/search', search: { q: text } },
  }
  const groups = [...pages, ...found.groups, ...(found.groups.length > 0 ? toGroup('More', [all]) : [])]
  return { groups, status: describeStatus(groups.length === 0, text, found), isSearching: found.isSearching }
}

function describeStatus(
  isEmpty: boolean,
  text: string,
  { isSearching, isTooShort, isSignedIn, error }: Omit<ReturnType<typeof useFoundGroups>, 'groups'>,
): string {
  if (error) return `Search does not work at the moment: ${errorTitles[classifyError(error, navigator.onLine)]}`
  if (isSearching) return 'Searching…'
  if (!isSignedIn) return 'Sign in to search. Only pages are found without it.'
  if (!isEmpty) return ''
  return isTooShort
    ? 'Type at least two letters to search names.'
    : `Nothing found for “${text}”. Names are found by the beginning of their words.`
}
