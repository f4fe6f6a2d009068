"""From a backup to a store that goes on where the backup was taken."""

from __future__ import annotations

from contextlib import closing

from excam.fault import UserError
from excam.store.backup import Manifest, read_manifest
from excam.store.connection import attempt, connect
from excam.store.schema import MIGRATIONS, refuse_newer, stored_version
from excam.store.store import Store
from excam.store.url import StoreUrl


def restore(folder: str, url: str) -> Manifest:
    """Make a new store from a backup, all of it or nothing; it may be of another kind and at another place.

    The store is made as old as the backup, filled, and then brought up to date like any store of that age.
    """
    manifest = read_manifest(folder)
    refuse_newer(manifest.schema_version)
    place = StoreUrl.parse(url)
    with closing(connect(place, read_only=False, create=True)) as connection:
        version = attempt(lambda: stored_version(connection))
    if version not in (0, manifest.schema_version):
        raise UserError(
            f"there is a store of schema version {version} at {place}; the backup has {manifest.schema_version}",
            "restore to a place where there is none",
        )
    known = [migration for migration in MIGRATIONS if migration.version <= manifest.schema_version]
    with Store.open(url, migrations=known) as store, store.lease("restoring a backup") as lease:
        store.load_backup(lease, folder, manifest)
    Store.open(url).close()
    return manifest
