"""What an agent or a plan can do, one file each; `catalog` has them all."""
