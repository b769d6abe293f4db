/** Links with search parameters. */
import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** The routes are made from the areas at run time, so the types of a link know no search parameters. */
export const toSearch = (search: Readonly<Record<string, string | number | undefined>>) => search as never

/** The same, for what is computed from the present parameters. */
export const toSearchUpdate = (update: (now: object) => object) => update as never

interface SearchTarget {
  readonly to: string
  readonly search: Readonly<Record<string, string | number>>
  readonly hash?: string
  readonly children: ReactNode
}

export function SearchLink({ to, search, hash, children, ...style }: SearchTarget & AnchorProps) {
  return (
    <Anchor component={Link} to={to} search={toSearch(search)} {...(hash && { hash })} {...style}>
      {children}
    </Anchor>
  )
}

export function SearchButton({ to, search, hash, children, ...style }: SearchTarget & ButtonProps) {
  return (
    <Button component={Link} to={to} search={toSearch(search)} {...(hash && { hash })} {...style}>
      {children}
    </Button>
  )
}
