/**
 * `npm run new:module -- <plural> [singular]`: writes a module with five operations from scripts/module-template, its migration
 * and its entry in src/app/modules.ts. The template is ordinary code that is type-checked and linted with the project.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const projectRoot = path.resolve(import.meta.dirname, '..')
const templateFolder = path.join(projectRoot, 'scripts/module-template')
const TEMPLATE = { plural: 'sample-widgets', singular: 'sample-widget' }

const toWords = (name) => name.split('-')
const capitalize = (word) => word[0].toUpperCase() + word.slice(1)
const toPascalCase = (name) => toWords(name).map(capitalize).join('')
const toCamelCase = (name) => toPascalCase(name)[0].toLowerCase() + toPascalCase(name).slice(1)
const toSnakeCase = (name) => toWords(name).join('_')
const toText = (name) => toWords(name).join(' ')
const styles = [(name) => name, toPascalCase, toCamelCase, toSnakeCase, toText, (name) => capitalize(toText(name))]

function toSingular(plural) {
  if (plural.endsWith('ies')) return `${plural.slice(0, -3)}y`
  return plural.replace(/s$/, '')
}

/** Every spelling of the template's name becomes the same spelling of the new name; the plural first, which contains the singular. */
function rename(text, names) {
  const pairs = ['plural', 'singular'].flatMap((number) =>
    styles.map((style) => [style(TEMPLATE[number]), style(names[number])]),
  )
  const article = /^[aeiou]/.test(names.singular) ? 'an' : 'a'
  const withArticle = [`a ${toText(TEMPLATE.singular)}`, `${article} ${toText(names.singular)}`]
  return [withArticle, ...pairs].reduce((renamed, [from, to]) => renamed.replaceAll(from, to), text)
}

/** The types of a table's columns stand below each other; a new name has another width. */
function alignColumns(sql) {
  const column = /^ {2}(?!constraint)(\w+) +(\w.*)$/
  const lines = sql.split('\n')
  const width = Math.max(...lines.map((line) => column.exec(line)?.[1].length ?? 0))
  return lines.map((line) => line.replace(column, (_, name, rest) => `  ${name.padEnd(width)} ${rest}`)).join('\n')
}

/** Words that cannot name a variable in a module. */
const RESERVED =
  /^(arguments|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield)$/

function checkNames(root, { plural, singular }) {
  for (const name of [plural, singular]) {
    if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) throw new Error(`"${name}" is not kebab-case, such as case-notes`)
  }
  if (plural === singular) throw new Error(`Give the singular too: npm run new:module -- ${plural} <singular>`)
  if (plural[0] !== singular[0]) {
    throw new Error(
      `"${singular}" is not the singular of "${plural}". A name of two words has a hyphen: npm run new:module -- ${plural}-${singular}`,
    )
  }
  if (RESERVED.test(plural)) throw new Error(`"${plural}" is a reserved word of JavaScript: choose another name`)
  if (fs.existsSync(path.join(root, 'src/modules', plural))) throw new Error(`src/modules/${plural} exists already`)
  checkIsFree(root, { plural, singular })
}

const readAll = (folder, extension) =>
  fs
    .readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith(extension) && !file.endsWith(`.test${extension}`))
    .map((file) => ({ file, text: fs.readFileSync(path.join(folder, file), 'utf8') }))

/** Paths, operations, search kinds and tables are unique in the whole program; a second one would fail when it starts, or later. */
function checkIsFree(root, { plural, singular }) {
  const [many, one] = [toPascalCase(plural), toPascalCase(singular)]
  const operations = [`list${many}`, ...['create', 'get', 'update', 'delete'].map((verb) => `${verb}${one}`)]
  const taken = [
    [new RegExp(`'(GET|POST|PUT|PATCH|DELETE) /${plural}(/|')`), `the path /${plural}`],
    ...operations.map((id) => [new RegExp(`\\bid: '${id}'`), `the operation ${id}`]),
    [new RegExp(`\\bkind: '${singular}'`), `the kind "${singular}"`],
  ]
  for (const { file, text } of readAll(path.join(root, 'src/modules'), '.ts')) {
    const found = taken.find(([pattern]) => pattern.test(text))
    if (found) throw new Error(`src/modules/${file} has ${found[1]} already: choose another name`)
  }
  const table = new RegExp(`create table (if not exists )?app\\.${toSnakeCase(singular)}\\b`, 'i')
  for (const { file, text } of readAll(path.join(root, 'db/migrations'), '.sql')) {
    if (table.test(text)) {
      throw new Error(
        `db/migrations/${file} creates the table app.${toSnakeCase(singular)} already: choose another name`,
      )
    }
  }
}

/** Migrations are numbered without a gap. */
function getMigrationFile(root, plural) {
  const last = fs
    .readdirSync(path.join(root, 'db/migrations'))
    .filter((file) => /^\d{4}_.*\.sql$/.test(file))
    .sort()
    .at(-1)
  const number = String(Number(last?.slice(0, 4) ?? 0) + 1).padStart(4, '0')
  return `db/migrations/${number}_create_${toSnakeCase(plural)}.sql`
}

/** Registers it last: a module may use those above it, and nothing uses a new one yet. */
function registerModule(root, plural) {
  const file = path.join(root, 'src/app/modules.ts')
  const text = fs.readFileSync(file, 'utf8')
  const listEnd = text.lastIndexOf('\n]')
  const firstImport = text.indexOf('import { access }')
  if (listEnd < 0 || firstImport < 0) throw new Error('src/app/modules.ts has no list of modules to add to')
  const name = toCamelCase(plural)
  const line = `import { ${name} } from '#modules/${plural}/index.ts'\n`
  const withEntry = `${text.slice(0, listEnd)}\n  ${name},${text.slice(listEnd)}`
  fs.writeFileSync(file, withEntry.slice(0, firstImport) + line + withEntry.slice(firstImport))
}

/**
 * @param {{ root?: string, plural: string, singular?: string, format?: (files: string[]) => void }} options `root` is where files
 * are written, `format` is called with them.
 * @returns {string[]} the files that were written or changed, from the root. After a failure everything is as before.
 */
export function createModule({ root = projectRoot, plural, singular = toSingular(plural), format = () => {} }) {
  const names = { plural, singular }
  checkNames(root, names)
  const folder = `src/modules/${plural}`
  const registry = path.join(root, 'src/app/modules.ts')
  const registered = fs.readFileSync(registry)
  const migration = getMigrationFile(root, plural)
  try {
    fs.mkdirSync(path.join(root, folder), { recursive: true })
    const written = fs.readdirSync(templateFolder).map((file) => {
      const target = file === 'migration.sql' ? migration : `${folder}/${file}`
      const text = rename(fs.readFileSync(path.join(templateFolder, file), 'utf8'), names)
      fs.writeFileSync(path.join(root, target), file.endsWith('.sql') ? alignColumns(text) : text)
      return target
    })
    registerModule(root, plural)
    const files = [...written, 'src/app/modules.ts']
    format(files)
    return files
  } catch (error) {
    fs.rmSync(path.join(root, folder), { recursive: true, force: true })
    fs.rmSync(path.join(root, migration), { force: true })
    fs.writeFileSync(registry, registered)
    throw error
  }
}

/** Line breaks and the order of imports depend on the names. */
function formatFiles(files) {
  const biome = path.join(projectRoot, 'node_modules/@biomejs/biome/bin/biome')
  const sources = files.filter((file) => file.endsWith('.ts'))
  try {
    execFileSync(process.execPath, [biome, 'check', '--write', ...sources], { cwd: projectRoot, stdio: 'pipe' })
  } catch (error) {
    throw new Error(
      `Nothing was written: the files cannot be formatted.\n${error.stdout || error.stderr || error.message}`,
    )
  }
}

function runFromCommandLine([plural, singular]) {
  if (!plural) throw new Error('Usage: npm run new:module -- <plural> [singular], for example: case-notes')
  const files = createModule({ plural, ...(singular && { singular }), format: formatFiles })
  console.log(`${files.map((file) => `wrote ${file}`).join('\n')}

Its examples have to be recorded; then it passes all suites as it is:
   npm run docs -- examples && npm run test:module -- ${plural}

Next:
1. Describe the table in the migration, choose its columns and its isolation kind (CONTRIBUTING.md), and repeat the columns
   in schema.ts and queries.ts.
2. Choose roles, problems and texts in routes.ts; a change that needs approval is "governed".
3. Extend fixtures.ts for new operations and routes.test.ts for behaviour.
4. Place the module in src/app/api-groups.ts, the order of the API documentation.
5. npm run docs -- examples schema after each change of operations or tables, then npm run test:module -- ${plural}
6. npm test before you merge.`)
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    runFromCommandLine(process.argv.slice(2))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
