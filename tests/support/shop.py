"""A small shop in Python: enough to call, import, inherit, serve and test."""

SHOP = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/money.py": "def rounded(amount):\n    return round(amount, 2)\n",
    "shop/cart.py": (
        "from shop.money import rounded\n\n\nclass Cart:\n"
        "    def total(self, items):\n        return rounded(sum(items))\n"
    ),
    "shop/api.py": (
        "from fastapi import FastAPI\n\nfrom shop.cart import Cart\n\napp = FastAPI()\n\n\n"
        '@app.get("/carts/{cart_id}")\ndef read_cart(cart_id: int):\n    return Cart().total([cart_id])\n'
    ),
    "tests/test_cart.py": (
        "from shop.cart import Cart\n\n\ndef test_a_cart_has_a_total():\n    assert Cart().total([1, 2]) == 3\n"
    ),
}
