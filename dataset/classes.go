package dataset

import "strings"

// Names of the classes by label, as the authors of the datasets give them.
var (
	cifar10Classes = strings.Fields("airplane automobile bird cat deer dog frog horse ship truck")
	digits         = strings.Fields("0 1 2 3 4 5 6 7 8 9")
	fashionClasses = []string{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
		"Bag", "Ankle boot"}

	cifar100Classes = strings.Fields(`
		apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle
		bowl boy bridge bus butterfly camel can castle caterpillar cattle
		chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur
		dolphin elephant flatfish forest fox girl hamster house kangaroo keyboard
		lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle mountain
		mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree
		plain plate poppy porcupine possum rabbit raccoon ray road rocket
		rose sea seal shark shrew skunk skyscraper snail snake spider
		squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor
		train trout tulip turtle wardrobe whale willow_tree wolf woman worm`)
)
