/** A paginated list: query, table, loading state and button for the next page. */
import { Button, Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { type EmptyContent, EmptyState } from './empty-state.tsx'
import { formatCount } from './format.ts'

interface ListPage<Item> {
  readonly items: Item[]
  readonly next_cursor: string | null
}

interface PageOptions {
  readonly refetch_ms?: number
  /** The page shows why the list is refused, beside filters that may be changed, and is not replaced by the error. */
  readonly keeps_page?: boolean
}

/** `key` names the list and everything that filters it. */
export function usePages<Item>(
  key: readonly unknown[],
  read: (cursor: { cursor?: string }, signal: AbortSignal) => Promise<ListPage<Item>>,
  options: PageOptions = {},
) {
  return useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam === null ? {} : { cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    ...(options.refetch_ms !== undefined && { refetchInterval: options.refetch_ms }),
    ...(options.keeps_page && { throwOnError: false }),
  })
}

interface ListTableProps<Item> {
  readonly label: string
  readonly list: ReturnType<typeof usePages<Item>>
  readonly head: readonly Column[]
  readonly row: (item: Item) => ReactNode
  /** How many rows there are, where that was counted. */
  readonly total?: { readonly count: number; readonly is_capped: boolean }
  /** What an empty list says. */
  readonly empty: EmptyContent
}
export interface Column {
  readonly name: string
  /** Hidden on narrow screens. */
  readonly from?: 'sm' | 'md' | 'lg'
  readonly isHidden?: boolean
}

export function ListTable<Item>({ label, list, head, row, total, empty }: ListTableProps<Item>) {
  if (list.data === undefined) return <ListSkeleton />
  const items = list.data.pages.flatMap((page) => page.items)
  if (items.length === 0) return list.hasNextPage ? <NextRows list={list} /> : <EmptyState {...empty} />
  return (
    <Stack gap="xs" aria-busy={list.isPlaceholderData}>
      <div className="table-card">
        <Table aria-label={label} verticalSpacing={8} highlightOnHover tabularNums>
          <Table.Thead>
            <Table.Tr>
              {head.map(({ name, from, isHidden }) => (
                <Table.Th key={name} {...(from && { visibleFrom: from })}>
                  {isHidden ? <span className="sr-only">{name}</span> : name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>{items.map(row)}</Table.Tbody>
        </Table>
      </div>
      <ListMore list={list} count={items.length} {...(total && { total })} />
    </Stack>
  )
}

/** Reads on: a request examines a bounded number of rows, and a page without any may name a next one. */
function NextRows<Item>({ list }: Pick<ListTableProps<Item>, 'list'>) {
  const { isFetching, fetchNextPage } = list
  useEffect(() => {
    if (!isFetching) fetchNextPage()
  }, [isFetching, fetchNextPage])
  return <ListSkeleton />
}

interface ListMoreProps<Item> extends Pick<ListTableProps<Item>, 'list' | 'total'> {
  readonly count: number
}

/** How many rows are shown, and the button for the next page. */
export function ListMore<Item>({ list, count, total }: ListMoreProps<Item>) {
  return (
    <Group justify="space-between">
      <Text size="xs" c="dimmed" role="status">
        {total && list.hasNextPage
          ? `${count.toLocaleString('en')} of ${total.is_capped ? 'more than ' : ''}${formatCount(total.count, 'row')} shown`
          : `${formatCount(count, 'row')} shown${list.hasNextPage ? '' : ', no more'}`}
      </Text>
      {list.hasNextPage && (
        <Button size="xs" variant="default" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
          Load more
        </Button>
      )}
    </Group>
  )
}

export function ListSkeleton() {
  return (
    <Stack gap={6} role="status" aria-label="Loading">
      {Array.from({ length: 6 }, (_, place) => (
        <Skeleton key={place} height={36} />
      ))}
    </Stack>
  )
}
