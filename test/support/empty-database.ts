/** A database that was migrated and nothing else: no seed, no tenant. The roles are the cluster's, and are left alone. */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { migrate, readMigrations } from '#kernel/database/migrations.ts'
import { EMPTY_TEMPLATE, projectRoot, type RoleName } from './database.ts'
import { countResource } from './resource-counts.ts'

export type EmptyDatabase = Record<RoleName, pg.ClientConfig> & { drop(): Promise<void> }

export async function runSql(connection: pg.ClientConfig, sql: string): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** `before`: the name of the first migration that is not applied, without its number. */
export async function createEmptyDatabase(before?: string): Promise<EmptyDatabase> {
  const template = inject('connections')
  const database = `e_${randomUUID().replaceAll('-', '')}`
  const administer = (sql: string) => runSql({ ...template.postgres, database: 'postgres' }, sql)
  countResource('database')
  const template_name = before === undefined ? EMPTY_TEMPLATE : 'template1'
  await administer(`create database ${database} template ${template_name} owner app_owner`)
  const configs = Object.fromEntries(Object.entries(template).map(([role, config]) => [role, { ...config, database }]))
  if (before !== undefined) {
    const migrations = readMigrations(path.join(projectRoot, 'db/migrations'))
    const end = migrations.findIndex(({ name }) => name === before)
    if (end < 0) throw new Error(`there is no migration ${before}`)
    await migrate({ ...template.migrator, database }, migrations.slice(0, end))
  }
  return {
    ...(configs as Record<RoleName, pg.ClientConfig>),
    drop: () => administer(`drop database ${database} with (force)`),
  }
}
